// What this processor can do and this system lets it do. Asked here, because not every compiler's own
// answer (`__builtin_cpu_supports`) is there: zig's library has only a stand-in, which says no to all.
#pragma once
#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>

// Which registers the system keeps for a thread.
inline uint64_t kept_registers() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

struct Processor {
  bool avx2 = false, avx512 = false, dots = false, tiles = false, avx_vnni = false;
  bool bf16_pairs = false;

  Processor() {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return;
    const unsigned FMA = 1u << 12, OSXSAVE = 1u << 27;
    if (!(c & FMA) || !(c & OSXSAVE)) return;
    const uint64_t AVX_STATE = 0x6, AVX512_STATE = 0xe6;
    const uint64_t kept = kept_registers();
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    const unsigned AVX2 = 1u << 5;
    const unsigned F = 1u << 16, DQ = 1u << 17, BW = 1u << 30, VL = 1u << 31, ALL = F | DQ | BW | VL;
    avx2 = (b & AVX2) && (kept & AVX_STATE) == AVX_STATE;
    avx512 = avx2 && (b & ALL) == ALL && (kept & AVX512_STATE) == AVX512_STATE;
    dots = avx512 && (c >> 11 & 1);  // sums of four products of bytes
    tiles = (d >> 24 & 1) && (d >> 25 & 1);  // with 8-bit products
    // The same sums in AVX2's registers.
    const bool more = __get_cpuid_count(7, 1, &a, &b, &c, &d);
    avx_vnni = avx2 && more && (a >> 4 & 1);
    bf16_pairs = avx512 && more && (a >> 5 & 1);  // sums of two products of bfloat16
  }
};
#endif
