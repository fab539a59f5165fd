// Work on a thread of its own: waited for, but not for ever.
#include "base/own_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <thread>

namespace xsigma::profiler::base {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST(OwnThread, WhatItKeptAliveIsGoneWhenItIsOver) {
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = kept;
  OwnThread thread;
  EXPECT_TRUE(thread.waitUntil(steady_clock::now())) << "nothing has begun";
  ASSERT_TRUE(thread.start("xsp-test", [kept = std::move(kept)] { std::this_thread::sleep_for(20ms); }));
  EXPECT_FALSE(thread.waitUntil(steady_clock::now()));
  EXPECT_FALSE(watched.expired());
  EXPECT_TRUE(thread.waitUntil(steady_clock::now() + 10s));
  EXPECT_TRUE(watched.expired());
}

TEST(OwnThread, GoesOnWithoutWhoeverStartedIt) {
  const auto goes_on = std::make_shared<std::promise<void>>();
  const auto ended = std::make_shared<std::promise<void>>();
  const auto before = steady_clock::now();
  EXPECT_FALSE(endsWithin(20ms, "xsp-test", [goes_on, ended] {
    goes_on->get_future().wait();
    ended->set_value();
  }));
  EXPECT_GE(steady_clock::now() - before, 20ms);
  EXPECT_LT(steady_clock::now() - before, 5s);
  goes_on->set_value();
  EXPECT_EQ(ended->get_future().wait_for(10s), std::future_status::ready);
}

TEST(OwnThread, IsAnotherThread) {
  const auto here = std::this_thread::get_id();
  std::thread::id there;
  ASSERT_TRUE(endsWithin(10s, "xsp-test", [&] { there = std::this_thread::get_id(); }));
  EXPECT_NE(here, there);
}

TEST(OwnThread, AnEndForLackOfMemoryIsAnEnd) {
  EXPECT_TRUE(endsWithin(10s, "xsp-test", [] { throw std::bad_alloc(); }));
}

}  // namespace
}  // namespace xsigma::profiler::base
