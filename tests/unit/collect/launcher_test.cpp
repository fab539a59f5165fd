// A process's place in a job: what launchers leave in the environment.
#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include "collect/process_properties.h"
#include "xsigma/profiler/capture.h"

namespace xsigma::profiler::collect {
namespace {

constexpr const char* kVariables[] = {"RANK",       "WORLD_SIZE", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                                      "PMI_RANK",   "PMI_SIZE",   "MPI_LOCALRANKID", "PMIX_RANK",       "PMIX_SIZE",            "PMIX_LOCAL_RANK",
                                      "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"};

std::string infoWith(std::initializer_list<std::pair<const char*, const char*>> environment) {
  for (const char* const name : kVariables) unsetenv(name);
  for (const auto& [name, value] : environment) setenv(name, value, 1);
  std::string info = distributedInfo();
  for (const char* const name : kVariables) unsetenv(name);
  return info;
}

TEST(Launcher, WithoutOneAProcessIsRankZeroOfOne) { EXPECT_EQ(infoWith({}), R"({"backend": "", "rank": 0, "world_size": 1})"); }

TEST(Launcher, EachOneTellsRankAndSizeInItsOwnWords) {
  EXPECT_EQ(infoWith({{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}}),
            R"({"backend": "", "rank": 3, "world_size": 8, "launcher": "torchrun", "local_rank": 1})");
  EXPECT_EQ(infoWith({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
            R"({"backend": "", "rank": 2, "world_size": 4, "launcher": "openmpi"})");
  EXPECT_EQ(infoWith({{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}}), R"({"backend": "", "rank": 5, "world_size": 6, "launcher": "pmi"})");
  EXPECT_EQ(infoWith({{"SLURM_PROCID", "7"}, {"SLURM_NTASKS", "16"}, {"SLURM_LOCALID", "3"}}),
            R"({"backend": "", "rank": 7, "world_size": 16, "launcher": "slurm", "local_rank": 3})");
}

TEST(Launcher, TheOneThatStartedTheProcessItselfGoesBeforeTheOneAroundIt) {
  EXPECT_NE(infoWith({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}).find("\"rank\": 1"), std::string::npos);
}

TEST(Launcher, WhatIsNoNumberIsNotBelieved) {
  EXPECT_EQ(infoWith({{"RANK", "first"}}), infoWith({}));
  EXPECT_EQ(infoWith({{"RANK", "-1"}}), infoWith({}));
  EXPECT_EQ(infoWith({{"RANK", "3x"}}), infoWith({}));
  EXPECT_NE(infoWith({{"RANK", "3"}, {"WORLD_SIZE", "many"}}).find("\"world_size\": 4"), std::string::npos) << "at least as many as its rank says";
}

TEST(Launcher, ARecordingKeepsItForThoseWhoReadItElsewhere) {
  setenv("RANK", "6", 1);
  setenv("WORLD_SIZE", "7", 1);
  Recording recording = *startRecording();
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  const Capture capture = recording.stop();
  std::string found;
  for (const CaptureProperty& property : capture.properties()) {
    if (property.key == "distributedInfo") found = property.json;
  }
  EXPECT_NE(found.find("\"rank\": 6, \"world_size\": 7"), std::string::npos) << found;
}

}  // namespace
}  // namespace xsigma::profiler::collect
