// What xsp says by its exit status.
#pragma once

namespace xsp {

inline constexpr int kExitWhole = 0;
inline constexpr int kExitUsage = 2;  // asked for something that cannot be done: options, a missing file, a newer format
inline constexpr int kExitLoss = 3;
inline constexpr int kExitCorrupt = 4;

}  // namespace xsp
