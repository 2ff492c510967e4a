// The addon's entry: picks the widest instruction set this machine has and hands its functions over.
#include <node_api.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
namespace arpo_avx512 {
void fill(napi_env env, napi_value exports);
}
namespace arpo_avx2 {
void fill(napi_env env, napi_value exports);
}
#endif
namespace arpo_base {
void fill(napi_env env, napi_value exports);
}

NAPI_MODULE_INIT() {
  const char* isa = "portable";
  void (*fill)(napi_env, napi_value) = arpo_base::fill;
#if defined(__aarch64__)
  isa = "neon";
#elif defined(__x86_64__)
  isa = "sse2";
  // ARPO_LAB_ISA narrows the choice, so that every path can be tested on one machine.
  const char* limit = getenv("ARPO_LAB_ISA");
  bool narrow = limit && !strcmp(limit, "sse2");
  bool middle = limit && !strcmp(limit, "avx2");
  if (!narrow && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    isa = "avx2";
    fill = arpo_avx2::fill;
    if (!middle && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      isa = "avx512";
      fill = arpo_avx512::fill;
    }
  }
#endif
  fill(env, exports);
  napi_value text;
  napi_create_string_utf8(env, isa, NAPI_AUTO_LENGTH, &text);
  napi_set_named_property(env, exports, "isa", text);
  return exports;
}
