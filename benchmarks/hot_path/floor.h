// The cheapest that a scope could be, and the loops that everything is timed with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace hot_path {

// Keeps the compiler from dropping the loop around it; with memory, from dropping stores as well.
inline void keepLoop() { asm volatile(""); }
inline void fence() { asm volatile("" ::: "memory"); }

// Nanoseconds per pass of `loop(count)`, called on each of `threads` threads at once, after `warm_up` passes; the slowest thread counts.
double timePerPass(int threads, size_t warm_up, size_t count, const std::function<void(size_t)>& loop);

// Two raw counter reads and a 32-byte store into a warm thread-local buffer.
void floorOn(size_t count);
// One relaxed load and a branch.
void floorOff(size_t count);
// The same around the body.
void floorOnAroundBody(size_t count);
// Eighty independent additions, alone and between the floor's two counter reads: how much of other work hides behind the counter on this CPU.
void eightyAdds(size_t count);
void floorOnAroundEightyAdds(size_t count);

// Independent arithmetic, sized by tuneBody() to about 33 ns.
void tuneBody();
void body();

}  // namespace hot_path
