// What every engine source file starts from. The engine is compiled once per instruction set (and
// once more for wasm), each time into a namespace of its own, so one binary carries all of them and
// nothing here may include the C++ library: an inline function compiled for AVX-512 must never be
// the copy that another machine runs.
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(ARPO_ISA_avx512)
#define ARPO_NS arpo_avx512
#define ARPO_LANES 16
#elif defined(ARPO_ISA_avx2)
#define ARPO_NS arpo_avx2
#define ARPO_LANES 8
#else
#define ARPO_NS arpo_base
#define ARPO_LANES 4
#endif

// Memory, threads and block copies come from the host (addon/host.cc or wasm/host.cc).
extern "C" {
void* arpo_alloc(size_t bytes);  // 64-byte aligned, never null: the host aborts when out of memory
void arpo_free(void* memory);
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
}

#define ARPO_INLINE static inline __attribute__((always_inline))
