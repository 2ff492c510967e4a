// The thread pool, as the engine sees it. One job at a time; tasks are claimed by whoever is free, so a
// busy process beside it slows one thread and not the job. What a task computes must not depend on
// which thread runs it or on how many there are: same bytes with 1 thread and with 64.
#pragma once
#include "platform.h"

enum { ARPO_MAX_THREADS = 64 };

extern "C" {
// Runs task(argument, index, thread) for every index in [0, count) and returns when all are done.
// `thread` is below ARPO_MAX_THREADS and unique within the job. Never call it from inside a task.
// While another JavaScript thread holds the pool, the caller does the whole job itself.
void arpo_pool_run(int count, void (*task)(void*, int, int), void* argument);
// A buffer that belongs to a thread and a slot and grows as asked; contents do not survive the next
// call for the same slot. Slots 0 and 1 are gemm's; 2 to 7 are for the function that runs the job.
void* arpo_scratch(int thread, int slot, size_t bytes);
// The job after the next reads `tasks` pieces of `bytes` each from there: threads that wait fetch the first of their own.
void arpo_pool_ahead(const void* memory, int tasks, size_t bytes);
int arpo_pool_threads();
void arpo_pool_set_threads(int count);
}

namespace ARPO_NS {
// parallel(count, [&](int index, int thread) { ... })
template <class Body>
ARPO_INLINE void parallel(int count, const Body& body) {
  arpo_pool_run(
      count, [](void* self, int index, int thread) { (*(const Body*)self)(index, thread); },
      (void*)&body);
}

// Who shares out a piece of work: the pool, or nobody, where a thread is in one of its jobs already.
struct Team {
  int thread = -1;  // the thread that works alone

  bool alone() const { return thread >= 0; }
  int threads() const { return alone() ? 1 : arpo_pool_threads(); }
  template <class Body>
  void each(int count, const Body& body) const {
    if (!alone()) return parallel(count, body);
    for (int i = 0; i < count; i++) body(i, thread);
  }
};
}  // namespace ARPO_NS
