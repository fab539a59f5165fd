// A thread that moves from core to core costs more, and less, than what is to be measured.
#pragma once

#include <sched.h>

namespace device_tests {

// The calling thread, and those that it starts from now on.
inline void stayOnThisCore() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
}

}  // namespace device_tests
