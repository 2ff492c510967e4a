// Memory and threads for the engine as wasm. Its memory is shared: workers run the same module, each
// with a stack of its own, and wait here for jobs.
#include "../src/pool.h"

#define ARPO_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" __attribute__((import_module("env"), import_name("out_of_memory"))) void out_of_memory(
    double bytes);
extern "C" unsigned char __heap_base;

namespace {

enum { PAGE = 65536, CLASSES = 512, HEADER = 64 };

struct Block {
  uint32_t kind;  // its size class
  Block* next;    // while idle
};

uint32_t lock_word = 0;
uintptr_t top = 0;  // the end of what was ever handed out
Block* idle[CLASSES];

struct Lock {
  Lock() {
    while (__atomic_exchange_n(&lock_word, 1u, __ATOMIC_ACQUIRE)) {
    }
  }
  ~Lock() { __atomic_store_n(&lock_word, 0u, __ATOMIC_RELEASE); }
};

// Sizes grow by an eighth: class c holds (8 + c % 8) << (c / 8) units of 64 bytes.
size_t class_size(uint32_t c) { return ((size_t)(8 + c % 8) << (c / 8)) * 64; }
uint32_t class_of(size_t bytes) {
  size_t units = (bytes + 63) / 64;
  if (units <= 8) return 0;
  uint32_t shift = 28 - (uint32_t)__builtin_clz((uint32_t)units);
  uint32_t c = shift * 8 + (uint32_t)(units >> shift) - 8;
  return class_size(c) < bytes ? c + 1 : c;
}

}  // namespace

ARPO_EXPORT void* arpo_alloc(size_t bytes) {
  const uint32_t kind = class_of(bytes);
  Lock lock;
  // A block up to twice as large will do.
  for (uint32_t c = kind; c <= kind + 8 && c < CLASSES; c++) {
    if (Block* block = idle[c]) {
      idle[c] = block->next;
      return (char*)block + HEADER;
    }
  }
  if (top == 0) top = ((uintptr_t)&__heap_base + 63) / 64 * 64;
  const uint64_t end = (uint64_t)top + HEADER + class_size(kind);
  const uint64_t have = (uint64_t)__builtin_wasm_memory_size(0) * PAGE;
  if (end > have) {
    // A sixteenth more than needed, so that growing does not happen at every call.
    const uint64_t pages = (end - have + PAGE - 1) / PAGE;
    if (__builtin_wasm_memory_grow(0, pages + pages / 16) == (size_t)-1 &&
        __builtin_wasm_memory_grow(0, pages) == (size_t)-1) {
      __atomic_store_n(&lock_word, 0u, __ATOMIC_RELEASE);
      out_of_memory((double)bytes);
      __builtin_trap();
    }
  }
  Block* block = (Block*)top;
  top = (uintptr_t)end;
  block->kind = kind;
  return (char*)block + HEADER;
}

ARPO_EXPORT void arpo_free(void* memory) {
  if (!memory) return;
  Block* block = (Block*)((char*)memory - HEADER);
  Lock lock;
  block->next = idle[block->kind];
  idle[block->kind] = block;
}

ARPO_EXPORT double arpo_heap_end() { return (double)top; }

extern "C" void* arpo_scratch(int thread, int slot, size_t bytes) {
  static void* memory[ARPO_MAX_THREADS][8];
  static size_t sizes[ARPO_MAX_THREADS][8];
  if (sizes[thread][slot] < bytes) {
    arpo_free(memory[thread][slot]);
    memory[thread][slot] = nullptr, sizes[thread][slot] = 0;  // nothing is kept where the next line does not return
    memory[thread][slot] = arpo_alloc(bytes);
    sizes[thread][slot] = bytes;
  }
  return memory[thread][slot];
}

extern "C" __attribute__((no_builtin)) void* memcpy(void* to, const void* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) ((char*)to)[i] = ((const char*)from)[i];
  return to;
}
extern "C" __attribute__((no_builtin)) void* memmove(void* to, const void* from, size_t bytes) {
  if (to < from) return memcpy(to, from, bytes);
  for (size_t i = bytes; i > 0; i--) ((char*)to)[i - 1] = ((const char*)from)[i - 1];
  return to;
}
extern "C" __attribute__((no_builtin)) void* memset(void* to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) ((char*)to)[i] = (char)value;
  return to;
}

namespace {

// The protocol of addon/host.cc, with wasm's own wait and notify.
constexpr int OPEN = 1 << 30;
constexpr int SPINS = 20000;

int wanted = 1, state = 0, generation = 0, next = 0, count = 0, limit = 0;
uint32_t refused = 0;  // bytes that a worker was not given
void (*task)(void*, int, int) = nullptr;
void* argument = nullptr;

void share(int thread) {
  for (int i; (i = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)) < count;)
    task(argument, i, thread);
}

bool join() {
  int seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  while (seen & OPEN)
    if (__atomic_compare_exchange_n(&state, &seen, seen + 1, true, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return true;
  return false;
}

void leave() {
  if (__atomic_sub_fetch(&state, 1, __ATOMIC_RELEASE) == 0)
    __builtin_wasm_memory_atomic_notify(&state, 1);
}

// Nobody joins the job any more, and those who are in it have left it.
void close_job() {
  __atomic_fetch_and(&state, ~OPEN, __ATOMIC_SEQ_CST);
  int spins = 0;
  for (int left; (left = __atomic_load_n(&state, __ATOMIC_ACQUIRE)) != 0;)
    if (++spins > SPINS) __builtin_wasm_memory_atomic_wait32(&state, left, -1);
}

}  // namespace

// A thread cannot go on with its job for want of memory, and its host is about to throw, which leaves its calls
// without running their ends: nothing of the job is begun any more, and its caller will hear of it.
ARPO_EXPORT void arpo_pool_abandon(int thread, double bytes) {
  __atomic_store_n(&next, count, __ATOMIC_RELAXED);
  if (thread == 0) {
    close_job();
    __atomic_store_n(&refused, 0u, __ATOMIC_RELAXED);
  } else {
    __atomic_store_n(&refused, (uint32_t)bytes, __ATOMIC_RELAXED);
    leave();
  }
}

// What a worker runs, for ever.
ARPO_EXPORT void arpo_worker(int thread) {
  int seen = 0;
  for (;;) {
    int spins = 0;
    while (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) == seen)
      if (++spins > SPINS) __builtin_wasm_memory_atomic_wait32(&generation, seen, -1);
    seen = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (thread > __atomic_load_n(&limit, __ATOMIC_RELAXED) || !join()) continue;
    share(thread);
    leave();
  }
}

extern "C" void arpo_pool_run(int tasks, void (*body)(void*, int, int), void* body_argument) {
  if (tasks <= 1 || wanted <= 1) {
    for (int i = 0; i < tasks; i++) body(body_argument, i, 0);
    return;
  }
  task = body, argument = body_argument, count = tasks;
  __atomic_store_n(&next, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&limit, wanted - 1, __ATOMIC_RELAXED);
  __atomic_store_n(&state, OPEN, __ATOMIC_RELEASE);
  __atomic_fetch_add(&generation, 1, __ATOMIC_SEQ_CST);
  __builtin_wasm_memory_atomic_notify(&generation, (unsigned)wanted);
  share(0);
  close_job();
  if (const uint32_t bytes = __atomic_exchange_n(&refused, 0u, __ATOMIC_RELAXED)) {
    out_of_memory((double)bytes);
    __builtin_trap();
  }
}

extern "C" void arpo_pool_ahead(const void*, int, size_t) {}
extern "C" int arpo_pool_threads() { return wanted; }
extern "C" void arpo_pool_set_threads(int threads) {
  wanted = threads < 1 ? 1 : threads > ARPO_MAX_THREADS ? ARPO_MAX_THREADS : threads;
}
