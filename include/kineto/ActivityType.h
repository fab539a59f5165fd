// libkineto::ActivityType: what an activity is, and the word that stands for it in a trace.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace libkineto {

enum class ActivityType {
  CPU_OP = 0,
  USER_ANNOTATION,
  GPU_USER_ANNOTATION,
  GPU_MEMCPY,
  GPU_MEMSET,
  CONCURRENT_KERNEL,
  EXTERNAL_CORRELATION,
  CUDA_RUNTIME,
  CUDA_DRIVER,
  CPU_INSTANT_EVENT,
  PYTHON_FUNCTION,
  OVERHEAD,
  MTIA_RUNTIME,
  MTIA_CCP_EVENTS,
  MTIA_INSIGHT,
  CUDA_SYNC,
  CUDA_EVENT,
  MTIA_COUNTERS,

  GLOW_RUNTIME,
  CUDA_PROFILER_RANGE,
  HPU_OP,
  XPU_RUNTIME,
  XPU_DRIVER,
  COLLECTIVE_COMM,
  PRIVATEUSE1_RUNTIME,
  PRIVATEUSE1_DRIVER,
  XPU_SCOPE_PROFILER,
  XPU_SYNC,
  HARDWARE_COUNTERS,

  ENUM_COUNT,
  OPTIONAL_ACTIVITY_TYPE_START = GLOW_RUNTIME,  // those before it are on by default
};

struct _ActivityTypeName {
  const char* name;
  ActivityType type;
};

inline constexpr std::array<_ActivityTypeName, static_cast<std::size_t>(ActivityType::ENUM_COUNT) + 1> _activityTypeNames{{
    {"cpu_op", ActivityType::CPU_OP},
    {"user_annotation", ActivityType::USER_ANNOTATION},
    {"gpu_user_annotation", ActivityType::GPU_USER_ANNOTATION},
    {"gpu_memcpy", ActivityType::GPU_MEMCPY},
    {"gpu_memset", ActivityType::GPU_MEMSET},
    {"kernel", ActivityType::CONCURRENT_KERNEL},
    {"external_correlation", ActivityType::EXTERNAL_CORRELATION},
    {"cuda_runtime", ActivityType::CUDA_RUNTIME},
    {"cuda_driver", ActivityType::CUDA_DRIVER},
    {"cpu_instant_event", ActivityType::CPU_INSTANT_EVENT},
    {"python_function", ActivityType::PYTHON_FUNCTION},
    {"overhead", ActivityType::OVERHEAD},
    {"mtia_runtime", ActivityType::MTIA_RUNTIME},
    {"mtia_ccp_events", ActivityType::MTIA_CCP_EVENTS},
    {"mtia_insight", ActivityType::MTIA_INSIGHT},
    {"cuda_sync", ActivityType::CUDA_SYNC},
    {"cuda_event", ActivityType::CUDA_EVENT},
    {"mtia_counters", ActivityType::MTIA_COUNTERS},
    {"glow_runtime", ActivityType::GLOW_RUNTIME},
    {"cuda_profiler_range", ActivityType::CUDA_PROFILER_RANGE},
    {"hpu_op", ActivityType::HPU_OP},
    {"xpu_runtime", ActivityType::XPU_RUNTIME},
    {"xpu_driver", ActivityType::XPU_DRIVER},
    {"collective_comm", ActivityType::COLLECTIVE_COMM},
    {"privateuse1_runtime", ActivityType::PRIVATEUSE1_RUNTIME},
    {"privateuse1_driver", ActivityType::PRIVATEUSE1_DRIVER},
    {"xpu_scope_profiler", ActivityType::XPU_SCOPE_PROFILER},
    {"xpu_sync", ActivityType::XPU_SYNC},
    {"hardware_counters", ActivityType::HARDWARE_COUNTERS},
    {"ENUM_COUNT", ActivityType::ENUM_COUNT},
}};

inline constexpr std::size_t activityTypeCount = static_cast<std::size_t>(ActivityType::ENUM_COUNT);
inline constexpr std::size_t defaultActivityTypeCount = static_cast<std::size_t>(ActivityType::OPTIONAL_ACTIVITY_TYPE_START);

// "ENUM_COUNT" for what is no activity type.
inline const char* toString(ActivityType type) {
  const auto index = static_cast<std::size_t>(type);
  return _activityTypeNames[index < activityTypeCount ? index : activityTypeCount].name;
}

inline ActivityType toActivityType(const std::string& name) {
  for (std::size_t i = 0; i < activityTypeCount; ++i) {
    if (name == _activityTypeNames[i].name) return _activityTypeNames[i].type;
  }
  throw std::invalid_argument("Invalid activity type: '" + name + "'. Use one of the words of a trace's cat, such as cpu_op or kernel");
}

namespace detail {
template <std::size_t Count>
std::array<ActivityType, Count> firstActivityTypes() {
  std::array<ActivityType, Count> types{};
  for (std::size_t i = 0; i < Count; ++i) types[i] = _activityTypeNames[i].type;
  return types;
}
}  // namespace detail

inline std::array<ActivityType, activityTypeCount> activityTypes() { return detail::firstActivityTypes<activityTypeCount>(); }
inline std::array<ActivityType, defaultActivityTypeCount> defaultActivityTypes() { return detail::firstActivityTypes<defaultActivityTypeCount>(); }

}  // namespace libkineto
