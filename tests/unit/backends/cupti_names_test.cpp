// What calls, kernels and copies are called, and which calls are left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "backends/cupti/call_filter.h"
#include "backends/cupti/kinds.h"
#include "backends/cupti/names.h"

namespace xsigma::profiler::backends::cupti {
namespace {

TEST(CuptiNames, ACallHasNoVersion) {
  EXPECT_EQ(withoutVersion("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(withoutVersion("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel_ptsz");
  EXPECT_EQ(withoutVersion("cudaGraphInstantiate_v12000"), "cudaGraphInstantiate");
  EXPECT_EQ(withoutVersion("cuMemcpyHtoDAsync_v2"), "cuMemcpyHtoDAsync_v2") << "that is part of its name";
  EXPECT_EQ(withoutVersion("my_value_v70x0"), "my_value_v70x0");
}

TEST(CuptiNames, AKernelIsCalledAsInItsSource) {
  EXPECT_EQ(demangled("_Z9gammaRaysPf"), "gammaRays(float*)");
  EXPECT_EQ(demangled("fromTheDriver"), "fromTheDriver");
  EXPECT_EQ(demangled("_Z9"), "_Z9");
  EXPECT_EQ(demangled(nullptr), "unknown");
}

TEST(CuptiNames, CopiesAndFillsSayWhereTo) {
  EXPECT_EQ(copyName(1, 2, 3), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(copyName(2, 3, 1), "Memcpy DtoH (Device -> Pageable)");
  EXPECT_EQ(copyName(77, 3, 99), "Memcpy Unrecognized (Device -> Unrecognized)");
  EXPECT_EQ(fillName(6), "Memset (Device Static)");
}

TEST(CuptiNames, OverheadIsNamedByItsNumber) {
  EXPECT_STREQ(overheadName(1), "Driver Compiler");
  EXPECT_STREQ(overheadName(7 << 16), "Activity Buffer Request");
  EXPECT_STREQ(overheadName(5 << 16), "Lazy Function Loading");
  EXPECT_STREQ(overheadName(99 << 16), "Unrecognized");
  EXPECT_STREQ(overheadName((1 << 16) + 1), "Unrecognized");
}

TEST(CuptiCalls, QuestionsAreLeftOut) {
  for (const char* const noise :
       {"cudaGetDevice", "cudaSetDevice", "cudaGetLastError", "cudaPeekAtLastError", "cudaEventCreateWithFlags"}) {
    EXPECT_FALSE(isKeptRuntimeCall(noise)) << noise;
  }
  for (const char* const noise : {"cuDeviceGetAttribute", "cuKernelGetName", "cuCtxGetCurrent", "cuStreamIsCapturing", "cuGraphGetNodes",
                                  "cuMemPoolGetAttribute", "cuEventQuery", "cuCtxPushCurrent_v2"}) {
    EXPECT_FALSE(isKeptDriverCall(noise)) << noise;
  }
}

TEST(CuptiCalls, WhatStartsWorkOrTakesTimeIsKept) {
  for (const char* const call : {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaGetDeviceCount", "cudaEventRecord"}) {
    EXPECT_TRUE(isKeptRuntimeCall(call)) << call;
  }
  for (const char* const call :
       {"cuLaunchKernel", "cuLaunchKernelEx_ptsz", "cuLaunchCooperativeKernel", "cuMemcpyHtoDAsync_v2", "cuMemsetD8Async",
        "cuMemAllocAsync", "cuMemFree_v2", "cuMemCreate", "cuMemMap", "cuGraphLaunch", "cuStreamSynchronize", "cuCtxSynchronize",
        "cuStreamWaitEvent", "cuModuleLoadData", "cuLibraryLoadData", "cuMemExportToShareableHandle", "cuMemPrefetchAsync_v2",
        "cuMemDiscardAndPrefetchBatchAsync", "cuMemBatchDecompressAsync"}) {
    EXPECT_TRUE(isKeptDriverCall(call)) << call;
  }
}

std::set<int> kindsOf(const BackendRequest& request) {
  std::set<int> kinds;
  for (const WantedKind& wanted : wantedKinds(request)) kinds.insert(wanted.kind);
  return kinds;
}

TEST(CuptiKinds, UsuallyAreWorkCallsAndOverhead) {
  EXPECT_EQ(kindsOf({}), (std::set<int>{CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DRIVER,
                                        CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_NAME,
                                        CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_MEMCPY2}));
}

TEST(CuptiKinds, WaitsBringTheEventsThatTheyWaitFor) {
  BackendRequest request;
  request.activities = {libkineto::ActivityType::CUDA_SYNC};
  EXPECT_EQ(kindsOf(request),
            (std::set<int>{CUPTI_ACTIVITY_KIND_NAME, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CUDA_EVENT}));
}

TEST(CuptiKinds, CallsBeginLastAndEndFirst) {
  const std::vector<WantedKind> kinds = wantedKinds({});
  const auto place = [&](int kind) {
    return std::find_if(kinds.begin(), kinds.end(), [&](const WantedKind& wanted) { return wanted.kind == kind; }) - kinds.begin();
  };
  for (const int work : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    EXPECT_LT(place(work), place(CUPTI_ACTIVITY_KIND_RUNTIME)) << "or launches at the edge would count as pending";
    EXPECT_LT(place(work), place(CUPTI_ACTIVITY_KIND_DRIVER));
  }
}

TEST(CuptiKinds, MemoryOnlyIfAsked) {
  BackendRequest request;
  request.memory = true;
  request.whole_graphs = true;
  const std::set<int> kinds = kindsOf(request);
  EXPECT_TRUE(kinds.contains(CUPTI_ACTIVITY_KIND_MEMORY2));
  EXPECT_TRUE(kinds.contains(CUPTI_ACTIVITY_KIND_MEMORY_POOL));
  EXPECT_FALSE(kinds.contains(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) << "it crashes programs: whole graphs are made of their nodes";
}

}  // namespace
}  // namespace xsigma::profiler::backends::cupti
