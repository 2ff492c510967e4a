// Memory and threads for the engine inside Node. Of the C++ library only headers are used, so that an addon
// needs none: threads are POSIX's, which every compiler for Windows used here brings too.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(_WIN32)
#include <malloc.h>
#include <windows.h>
#else
#include <sys/mman.h>
#endif
#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#endif

#include <atomic>

#include "../src/pool.h"
#include "cpu.h"

#if defined(__x86_64__)
#define ARPO_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define ARPO_PAUSE() asm volatile("yield")
#else
#define ARPO_PAUSE() ((void)0)
#endif

extern "C" void* arpo_alloc(size_t bytes) {
  void* memory = nullptr;
  size_t rounded = (bytes + 63) / 64 * 64;
#if defined(_WIN32)
  memory = _aligned_malloc(rounded ? rounded : 64, 64);
#else
  // What is large enough gets large pages where the system has them.
  const size_t page = 2 << 20;
  if (posix_memalign(&memory, rounded < page ? 64 : page, rounded ? rounded : 64) != 0) memory = nullptr;
#if defined(MADV_HUGEPAGE)
  if (memory && rounded >= page) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
#endif
  if (!memory) {
    fprintf(stderr, "arpo-lab: cannot allocate %zu bytes: out of memory\n", bytes);
    abort();
  }
  return memory;
}

extern "C" void arpo_free(void* memory) {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  free(memory);
#endif
}

namespace {

struct Slots {
  void* memory[8];
  size_t bytes[8];
};
thread_local Slots* own_slots = nullptr;

void release_slots(void* given) {
  Slots* slots = (Slots*)given;
  for (void* m : slots->memory) arpo_free(m);
  arpo_free(slots);
  own_slots = nullptr;
}

// Its value is a thread's slots, which are given back when the thread ends.
struct SlotKey {
  pthread_key_t key;
  SlotKey() { pthread_key_create(&key, release_slots); }
} slot_key;

}  // namespace

extern "C" void* arpo_scratch(int, int slot, size_t bytes) {
  if (!own_slots) {
    own_slots = (Slots*)arpo_alloc(sizeof(Slots));
    memset(own_slots, 0, sizeof(Slots));
    pthread_setspecific(slot_key.key, own_slots);
  }
  Slots& slots = *own_slots;
  if (slots.bytes[slot] < bytes) {
    arpo_free(slots.memory[slot]);
    slots.memory[slot] = arpo_alloc(bytes);
    slots.bytes[slot] = bytes;
  }
  return slots.memory[slot];
}

namespace {

// The core the calling thread is on; -1 where that cannot be known.
int this_core() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

int processors() {
#if defined(_WIN32)
  return (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
#else
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
}

// Nanoseconds since some moment.
int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct Lock {
  pthread_mutex_t& mutex;
  explicit Lock(pthread_mutex_t& m) : mutex(m) { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
};

// A job is open while tasks are left. A worker may join only while it is open (`state` counts the
// joined), and the caller waits only for those who joined: a worker that a busy machine keeps from
// running costs nothing.
class Pool {
 public:
  Pool() {
    int cores = processors();
    wanted = cores < 1 ? 1 : cores > ARPO_MAX_THREADS ? ARPO_MAX_THREADS : cores;
    if (const char* text = getenv("ARPO_LAB_THREADS")) {
      int count = atoi(text);
      if (count >= 1) wanted = count < ARPO_MAX_THREADS ? count : ARPO_MAX_THREADS;
    }
  }

  void run(int tasks, void (*body)(void*, int, int), void* body_argument) {
    const bool shared = tasks > 1 && wanted > 1 && pthread_mutex_trylock(&users) == 0;
    if (!shared) {
      for (int i = 0; i < tasks; i++) body(body_argument, i, 0);
      return;
    }
    while (started < wanted - 1 && start(started + 1)) started++;
    task = body, argument = body_argument;
    core.store(this_core(), std::memory_order_relaxed);
    const int threads = wanted;
    for (int t = 0; t < threads; t++) {
      shares[t].next.store((int)((int64_t)tasks * t / threads), std::memory_order_relaxed);
      shares[t].end = (int)((int64_t)tasks * (t + 1) / threads);
    }
    limit.store(threads - 1, std::memory_order_relaxed);
    state.store(OPEN, std::memory_order_release);
    generation.fetch_add(1);
    if (sleepers.load() > 0) {
      Lock lock(mutex);
      pthread_cond_broadcast(&wake);
    }
    share(0);
    // Closed: nobody joins any more. Wait for those who did.
    state.fetch_and(~OPEN);
    for (int spins = 0; state.load(std::memory_order_acquire) != 0; spins++) {
      if (spins < SPINS) {
        ARPO_PAUSE();
        fetch_ahead(0, spins);
        continue;
      }
      Lock lock(mutex);
      waiting.store(true);
      while (state.load() != 0) pthread_cond_wait(&finished, &mutex);
      waiting.store(false);
    }
    pthread_mutex_unlock(&users);
  }

  std::atomic<int> limit{0};
  struct {
    std::atomic<const char*> memory{nullptr};
    std::atomic<int> tasks{0};
    std::atomic<size_t> bytes{0};
  } ahead;
  int wanted;

 private:
  static constexpr uint32_t OPEN = 1u << 31;
  static constexpr int SPINS = 2000;
  // Longer than JavaScript takes between two steps of a decoder.
  static constexpr int64_t PATIENCE = 300 * 1000;

  // Where the system gives no more threads, those that there are do the work.
  bool start(int thread) {
    pthread_t handle;
    void* number = (void*)(intptr_t)thread;
    if (pthread_create(&handle, nullptr, enter, number) != 0) return false;
    pthread_detach(handle);
    return true;
  }
  static void* enter(void* number);

  // Its own tasks first, the same ones whenever a job has as many, so that what they work on is in its
  // core's cache; then what is left of the others'.
  void share(int thread) {
    const int threads = limit.load(std::memory_order_relaxed) + 1;
    for (int t = 0; t < threads; t++) {
      Share& from = shares[(thread + t) % threads];
      if (from.next.load(std::memory_order_relaxed) >= from.end) continue;
      for (int i; (i = from.next.fetch_add(1, std::memory_order_relaxed)) < from.end;)
        task(argument, i, thread);
    }
  }

  // What `thread` will read first in the job after this one, a little with every spin.
  void fetch_ahead(int thread, int spins) {
    enum { STRIDE = 512, MOST = 128 << 10 };
    const size_t offset = (size_t)spins * STRIDE;
    const char* memory = ahead.memory.load(std::memory_order_relaxed);
    if (!memory || offset >= MOST) return;
    const int64_t tasks = ahead.tasks.load(std::memory_order_relaxed), threads = limit.load(std::memory_order_relaxed) + 1;
    const int64_t first = tasks * thread / threads, last = tasks * (thread + 1) / threads;
    const size_t bytes = ahead.bytes.load(std::memory_order_relaxed);
    if (offset >= bytes * (last - first)) return;
    for (size_t at = offset; at < offset + STRIDE; at += 64) __builtin_prefetch(memory + bytes * first + at, 0, 2);
  }

  bool join() {
    uint32_t seen = state.load();
    while (seen & OPEN)
      if (state.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) return true;
    return false;
  }

  void work(int thread) {
    uint32_t seen = 0;
    for (;;) {
      const int64_t until = now() + PATIENCE;
      for (int spins = 0; generation.load(std::memory_order_acquire) == seen; spins++) {
        ARPO_PAUSE();
        fetch_ahead(thread, spins);
        if (spins % 64 != 63) continue;
        // On a busy machine a worker may be woken on its caller's own core: waiting there would keep the
        // caller from running.
        const int here = this_core();
        const bool in_the_way = here >= 0 && here == core.load(std::memory_order_relaxed);
        if (!in_the_way && now() < until) continue;
        Lock lock(mutex);
        sleepers.fetch_add(1);
        while (generation.load() == seen) pthread_cond_wait(&wake, &mutex);
        sleepers.fetch_sub(1);
      }
      seen = generation.load();
      if (thread > limit.load() || !join()) continue;
      share(thread);
      if (state.fetch_sub(1) == 1 && waiting.load()) {
        Lock lock(mutex);
        pthread_cond_broadcast(&finished);
      }
    }
  }

  pthread_mutex_t users = PTHREAD_MUTEX_INITIALIZER, mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
  std::atomic<uint32_t> state{0}, generation{0};
  std::atomic<int> sleepers{0};
  std::atomic<bool> waiting{false};
  std::atomic<int> core{-1};
  void (*task)(void*, int, int) = nullptr;
  void* argument = nullptr;
  int started = 0;
  // Tasks [next, end), each claimed once by whoever comes first.
  struct alignas(64) Share {
    std::atomic<int> next{0};
    int end = 0;
  };
  Share shares[ARPO_MAX_THREADS];
};

// Never destroyed: its threads run until the process ends.
Pool pool;

void* Pool::enter(void* number) {
  pool.work((int)(intptr_t)number);
  return nullptr;
}

}  // namespace

#if defined(__x86_64__)
// What ARPO_LAB_ISA=avx512 leaves out, so that the rest can be tested.
static bool beyond_avx512() {
  const char* limit = getenv("ARPO_LAB_ISA");
  return !(limit && !strcmp(limit, "avx512"));
}

// What `ask` answers, which is kept. Asking twice does no harm: no lock is needed, which not every
// platform's addon could link.
template <typename Ask>
static int kept(std::atomic<int>& known, Ask ask) {
  int answer = known.load(std::memory_order_relaxed);
  if (answer >= 0) return answer;
  answer = ask();
  known.store(answer, std::memory_order_relaxed);
  return answer;
}

// Whether the processor adds four products of bytes at once.
extern "C" int arpo_has_dots() {
  static std::atomic<int> known{-1};
  return kept(known, [] { return beyond_avx512() && Processor().dots; });
}

// Whether it adds two products of bfloat16 at once.
extern "C" int arpo_has_bf16_pairs() {
  static std::atomic<int> known{-1};
  return kept(known, [] { return beyond_avx512() && Processor().bf16_pairs; });
}

// Whether it adds products of bytes in AVX2's registers.
extern "C" int arpo_has_avx_vnni() {
  static std::atomic<int> known{-1};
  return kept(known, [] {
    const char* limit = getenv("ARPO_LAB_ISA");
    return !(limit && !strcmp(limit, "avx2")) && Processor().avx_vnni;
  });
}

// Whether this process may use the processor's matrix tiles: Linux hands out their state on request.
extern "C" int arpo_has_tiles() {
#if defined(__linux__)
  static std::atomic<int> granted{-1};
  return kept(granted, [] {
    const long REQUEST_PERMISSION = 0x1023, TILE_DATA = 18;
    return beyond_avx512() && Processor().tiles &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
  });
#else
  return 0;
#endif
}
#endif

extern "C" void arpo_pool_run(int count, void (*task)(void*, int, int), void* argument) {
  pool.run(count, task, argument);
}
extern "C" void arpo_pool_ahead(const void* memory, int tasks, size_t bytes) {
  pool.ahead.tasks.store(tasks, std::memory_order_relaxed);
  pool.ahead.bytes.store(bytes, std::memory_order_relaxed);
  pool.ahead.memory.store((const char*)memory, std::memory_order_relaxed);
}
extern "C" int arpo_pool_threads() { return pool.wanted; }
extern "C" void arpo_pool_set_threads(int count) {
  pool.wanted = count < 1 ? 1 : count > ARPO_MAX_THREADS ? ARPO_MAX_THREADS : count;
}
