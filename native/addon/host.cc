// Memory and threads for the engine inside Node.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if !defined(_WIN32)
#include <sys/mman.h>
#endif
#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "../src/pool.h"

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

extern "C" void* arpo_scratch(int, int slot, size_t bytes) {
  struct Slots {
    void* memory[8] = {};
    size_t bytes[8] = {};
    ~Slots() {
      for (void* m : memory) arpo_free(m);
    }
  };
  static thread_local Slots slots;
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

// A job is open while tasks are left. A worker may join only while it is open (`state` counts the
// joined), and the caller waits only for those who joined: a worker that a busy machine keeps from
// running costs nothing.
class Pool {
 public:
  Pool() {
    unsigned cores = std::thread::hardware_concurrency();
    wanted = cores < 1 ? 1 : cores > ARPO_MAX_THREADS ? ARPO_MAX_THREADS : (int)cores;
    if (const char* text = getenv("ARPO_LAB_THREADS")) {
      int count = atoi(text);
      if (count >= 1) wanted = count < ARPO_MAX_THREADS ? count : ARPO_MAX_THREADS;
    }
  }

  void run(int tasks, void (*body)(void*, int, int), void* body_argument) {
    std::unique_lock<std::mutex> only(users, std::try_to_lock);
    if (tasks <= 1 || wanted <= 1 || !only.owns_lock()) {
      for (int i = 0; i < tasks; i++) body(body_argument, i, 0);
      return;
    }
    while (started < wanted - 1) std::thread(&Pool::work, this, ++started).detach();
    task = body, argument = body_argument, count = tasks;
    core.store(this_core(), std::memory_order_relaxed);
    next.store(0, std::memory_order_relaxed);
    limit.store(wanted - 1, std::memory_order_relaxed);
    state.store(OPEN, std::memory_order_release);
    generation.fetch_add(1);
    if (sleepers.load() > 0) {
      std::lock_guard<std::mutex> lock(mutex);
      wake.notify_all();
    }
    share(0);
    // Closed: nobody joins any more. Wait for those who did.
    state.fetch_and(~OPEN);
    for (int spins = 0; state.load(std::memory_order_acquire) != 0; spins++) {
      if (spins < SPINS) {
        ARPO_PAUSE();
        continue;
      }
      std::unique_lock<std::mutex> lock(mutex);
      waiting.store(true);
      finished.wait(lock, [&] { return state.load() == 0; });
      waiting.store(false);
    }
  }

  std::atomic<int> limit{0};
  int wanted;

 private:
  static constexpr uint32_t OPEN = 1u << 31;
  static constexpr int SPINS = 2000;
  // Longer than JavaScript takes between two steps of a decoder.
  static constexpr std::chrono::microseconds PATIENCE{300};

  void share(int thread) {
    for (int i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      task(argument, i, thread);
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
      auto until = std::chrono::steady_clock::now() + PATIENCE;
      for (int spins = 0; generation.load(std::memory_order_acquire) == seen; spins++) {
        ARPO_PAUSE();
        if (spins % 64 != 63) continue;
        // On a busy machine a worker may be woken on its caller's own core: waiting there would keep the
        // caller from running.
        const int here = this_core();
        const bool in_the_way = here >= 0 && here == core.load(std::memory_order_relaxed);
        if (!in_the_way && std::chrono::steady_clock::now() < until) continue;
        std::unique_lock<std::mutex> lock(mutex);
        sleepers.fetch_add(1);
        wake.wait(lock, [&] { return generation.load() != seen; });
        sleepers.fetch_sub(1);
      }
      seen = generation.load();
      if (thread > limit.load() || !join()) continue;
      share(thread);
      if (state.fetch_sub(1) == 1 && waiting.load()) {
        std::lock_guard<std::mutex> lock(mutex);
        finished.notify_all();
      }
    }
  }

  std::mutex users, mutex;
  std::condition_variable wake, finished;
  std::atomic<uint32_t> state{0}, generation{0};
  std::atomic<int> next{0}, sleepers{0};
  std::atomic<bool> waiting{false};
  std::atomic<int> core{-1};
  void (*task)(void*, int, int) = nullptr;
  void* argument = nullptr;
  int count = 0, started = 0;
};

// Never destroyed: its threads run until the process ends.
Pool& pool() {
  static Pool* instance = new Pool;
  return *instance;
}

}  // namespace

#if defined(__x86_64__)
// Whether this process may use the processor's matrix tiles: Linux hands out their state on request.
extern "C" int arpo_has_tiles() {
  static const bool granted = [] {
#if defined(__linux__)
    const char* limit = getenv("ARPO_LAB_ISA");
    if (limit && !strcmp(limit, "avx512")) return false;
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    bool tile = d >> 24 & 1, int8 = d >> 25 & 1;
    const long REQUEST_PERMISSION = 0x1023, TILE_DATA = 18;
    return tile && int8 && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
  }();
  return granted;
}
#endif

extern "C" void arpo_pool_run(int count, void (*task)(void*, int, int), void* argument) {
  pool().run(count, task, argument);
}
extern "C" int arpo_pool_threads() { return pool().wanted; }
extern "C" void arpo_pool_set_threads(int count) {
  pool().wanted = count < 1 ? 1 : count > ARPO_MAX_THREADS ? ARPO_MAX_THREADS : count;
}
