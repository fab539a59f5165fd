// Which of the vendor's structs a record is, by the version of the library that wrote it. The only place that asks what the headers have.
//
// A struct of a family only ever grows at its end (asserted below), so a library that is newer than the headers is read with the newest struct they have.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cupti/cupti_api.h"

namespace xsigma::profiler::backends::cupti {

template <typename Struct, uint32_t Version>
struct Since {
  using Layout = Struct;
  static constexpr uint32_t kVersion = Version;  // the first CUPTI that writes it
};

// Oldest first. The oldest serves whatever is older still.
template <typename First, typename... Later>
struct LayoutFamily {
  template <typename Use>
  static auto read(uint32_t version, const CUpti_Activity& record, const Use& use) {
    if constexpr (sizeof...(Later) != 0) {
      if (version >= LayoutFamily<Later...>::kOldest) return LayoutFamily<Later...>::read(version, record, use);
    }
    return use(reinterpret_cast<const typename First::Layout&>(record));
  }
  static constexpr uint32_t kOldest = First::kVersion;
};

inline constexpr uint32_t kCupti12_0 = 18;
inline constexpr uint32_t kCupti12_3 = 21;
inline constexpr uint32_t kCupti12_4 = 22;
inline constexpr uint32_t kCupti12_5 = 23;
inline constexpr uint32_t kCupti12_6 = 24;
inline constexpr uint32_t kCupti12_8 = 26;
inline constexpr uint32_t kCupti13_0 = 130000;
inline constexpr uint32_t kCupti13_1 = 130100;
inline constexpr uint32_t kCupti13_3 = 130300;
inline constexpr uint32_t kCupti13_4 = 130400;

using KernelLayouts = LayoutFamily<Since<CUpti_ActivityKernel9, kCupti12_0>
#if CUPTI_API_VERSION >= 130000
                                   ,
                                   Since<CUpti_ActivityKernel10, kCupti13_0>
#endif
#if CUPTI_API_VERSION >= 130100
                                   ,
                                   Since<CUpti_ActivityKernel11, kCupti13_1>
#endif
#if CUPTI_API_VERSION >= 130300
                                   ,
                                   Since<CUpti_ActivityKernel12, kCupti13_3>
#endif
#if CUPTI_API_VERSION >= 130400
                                   ,
                                   Since<CUpti_ActivityKernel13, kCupti13_4>
#endif
                                   >;

using CopyLayouts = LayoutFamily<Since<CUpti_ActivityMemcpy5, kCupti12_0>
#if CUPTI_API_VERSION >= 26
                                 ,
                                 Since<CUpti_ActivityMemcpy6, kCupti12_8>
#endif
#if CUPTI_API_VERSION >= 130400
                                 ,
                                 Since<CUpti_ActivityMemcpy7, kCupti13_4>
#endif
                                 >;

using PeerCopyLayouts = LayoutFamily<Since<CUpti_ActivityMemcpyPtoP4, kCupti12_0>>;

using FillLayouts = LayoutFamily<Since<CUpti_ActivityMemset4, kCupti12_0>
#if CUPTI_API_VERSION >= 130400
                                 ,
                                 Since<CUpti_ActivityMemset5, kCupti13_4>
#endif
                                 >;

using MemoryLayouts = LayoutFamily<Since<CUpti_ActivityMemory3, kCupti12_0>
#if CUPTI_API_VERSION >= 24
                                   ,
                                   Since<CUpti_ActivityMemory4, kCupti12_6>
#endif
                                   >;

using MemoryPoolLayouts = LayoutFamily<Since<CUpti_ActivityMemoryPool2, kCupti12_0>
#if CUPTI_API_VERSION >= 130000
                                       ,
                                       Since<CUpti_ActivityMemoryPool3, kCupti13_0>
#endif
                                       >;

using SyncLayouts = LayoutFamily<Since<CUpti_ActivitySynchronization, kCupti12_0>
#if CUPTI_API_VERSION >= 26
                                 ,
                                 Since<CUpti_ActivitySynchronization2, kCupti12_8>
#endif
                                 >;

using EventLayouts = LayoutFamily<Since<CUpti_ActivityCudaEvent, kCupti12_0>
#if CUPTI_API_VERSION >= 26
                                  ,
                                  Since<CUpti_ActivityCudaEvent2, kCupti12_8>
#endif
                                  >;

using OverheadLayouts = LayoutFamily<Since<CUpti_ActivityOverhead, kCupti12_0>
#if CUPTI_API_VERSION >= 21
                                     ,
                                     Since<CUpti_ActivityOverhead2, kCupti12_3>
#endif
#if CUPTI_API_VERSION >= 22
                                     ,
                                     Since<CUpti_ActivityOverhead3, kCupti12_4>
#endif
                                     >;

using ContextLayouts = LayoutFamily<Since<CUpti_ActivityContext, kCupti12_0>
#if CUPTI_API_VERSION >= 22
                                    ,
                                    Since<CUpti_ActivityContext2, kCupti12_4>
#endif
#if CUPTI_API_VERSION >= 23
                                    ,
                                    Since<CUpti_ActivityContext3, kCupti12_5>
#endif
#if CUPTI_API_VERSION >= 130100
                                    ,
                                    Since<CUpti_ActivityContext4, kCupti13_1>
#endif
                                    >;

using StreamLayouts = LayoutFamily<Since<CUpti_ActivityStream, kCupti12_0>>;
using NameLayouts = LayoutFamily<Since<CUpti_ActivityName, kCupti12_0>>;
using CallLayouts = LayoutFamily<Since<CUpti_ActivityAPI, kCupti12_0>>;

// What is read of the oldest struct of a family lies where it lies in the newest.
template <typename First, typename... Later>
struct NewestOf : NewestOf<Later...> {};
template <typename Last>
struct NewestOf<Last> {
  using Layout = typename Last::Layout;
};
template <typename Family>
struct Newest;
template <typename... All>
struct Newest<LayoutFamily<All...>> : NewestOf<All...> {};

#define XSIGMA_CUPTI_SAME_PLACE(family, oldest, field) \
  static_assert(offsetof(oldest, field) == offsetof(Newest<family>::Layout, field), #oldest "::" #field " has moved")

XSIGMA_CUPTI_SAME_PLACE(KernelLayouts, CUpti_ActivityKernel9, registersPerThread);
XSIGMA_CUPTI_SAME_PLACE(KernelLayouts, CUpti_ActivityKernel9, start);
XSIGMA_CUPTI_SAME_PLACE(KernelLayouts, CUpti_ActivityKernel9, gridX);
XSIGMA_CUPTI_SAME_PLACE(KernelLayouts, CUpti_ActivityKernel9, correlationId);
XSIGMA_CUPTI_SAME_PLACE(KernelLayouts, CUpti_ActivityKernel9, name);
XSIGMA_CUPTI_SAME_PLACE(KernelLayouts, CUpti_ActivityKernel9, graphNodeId);
XSIGMA_CUPTI_SAME_PLACE(KernelLayouts, CUpti_ActivityKernel9, channelType);
XSIGMA_CUPTI_SAME_PLACE(CopyLayouts, CUpti_ActivityMemcpy5, correlationId);
XSIGMA_CUPTI_SAME_PLACE(CopyLayouts, CUpti_ActivityMemcpy5, graphNodeId);
XSIGMA_CUPTI_SAME_PLACE(CopyLayouts, CUpti_ActivityMemcpy5, channelType);
XSIGMA_CUPTI_SAME_PLACE(FillLayouts, CUpti_ActivityMemset4, correlationId);
XSIGMA_CUPTI_SAME_PLACE(FillLayouts, CUpti_ActivityMemset4, channelType);
XSIGMA_CUPTI_SAME_PLACE(MemoryLayouts, CUpti_ActivityMemory3, timestamp);
XSIGMA_CUPTI_SAME_PLACE(MemoryLayouts, CUpti_ActivityMemory3, memoryPoolConfig);
XSIGMA_CUPTI_SAME_PLACE(MemoryPoolLayouts, CUpti_ActivityMemoryPool2, utilizedSize);
XSIGMA_CUPTI_SAME_PLACE(SyncLayouts, CUpti_ActivitySynchronization, cudaEventId);
XSIGMA_CUPTI_SAME_PLACE(EventLayouts, CUpti_ActivityCudaEvent, eventId);
XSIGMA_CUPTI_SAME_PLACE(OverheadLayouts, CUpti_ActivityOverhead, start);
XSIGMA_CUPTI_SAME_PLACE(ContextLayouts, CUpti_ActivityContext, nullStreamId);
#undef XSIGMA_CUPTI_SAME_PLACE

}  // namespace xsigma::profiler::backends::cupti
