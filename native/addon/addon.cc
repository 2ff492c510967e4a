// The addon's entry: picks the widest instruction set this machine has and hands its functions over.
#include <node_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "cpu.h"

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

namespace {

#if defined(_WIN32)
// Files are read instead of mapped: a mapped file cannot be replaced there, and a model may be saved into
// the folder that it came from. Memory is JavaScript's.
napi_value map_file(napi_env env, napi_callback_info) {
  napi_value result = nullptr;
  napi_get_null(env, &result);
  return result;
}
napi_value forget_file(napi_env, napi_callback_info) { return nullptr; }
napi_value map_memory(napi_env env, napi_callback_info info) { return map_file(env, info); }
#else

// map_file(path): the file's bytes as an ArrayBuffer, read from disk where they are looked at; null
// where that cannot be. What is written to it stays in memory.
napi_value map_file(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value path_value, result = nullptr;
  napi_get_null(env, &result);
  napi_get_cb_info(env, info, &count, &path_value, nullptr, nullptr);
  char path[4096];
  size_t length = 0;
  if (count < 1 ||
      napi_get_value_string_utf8(env, path_value, path, sizeof path, &length) != napi_ok ||
      length + 1 >= sizeof path)
    return result;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return result;
  struct stat status;
  void* memory = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size > 0)
    memory = mmap(nullptr, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  close(file);
  if (memory == MAP_FAILED) return result;
  auto release = [](napi_env, void* data, void* size) { munmap(data, (size_t)size); };
  napi_value buffer;
  if (napi_create_external_arraybuffer(env, memory, (size_t)status.st_size, release,
                                       (void*)(size_t)status.st_size, &buffer) == napi_ok)
    return buffer;
  munmap(memory, (size_t)status.st_size);
  return result;
}

// forget_file(buffer): gives back the memory of what was looked at; it is read again when needed.
napi_value forget_file(napi_env env, napi_callback_info info) {
  size_t count = 1, size = 0;
  napi_value buffer;
  void* memory = nullptr;
  napi_get_cb_info(env, info, &count, &buffer, nullptr, nullptr);
  if (count == 1 && napi_get_arraybuffer_info(env, buffer, &memory, &size) == napi_ok && memory)
    madvise(memory, size, MADV_DONTNEED);
  return nullptr;
}

// map_memory(bytes): zeroed memory, in large pages where the system has them; null where that cannot be.
napi_value map_memory(napi_env env, napi_callback_info info) {
  size_t count = 1;
  double wanted = 0;
  napi_value argument, result = nullptr;
  napi_get_null(env, &result);
  napi_get_cb_info(env, info, &count, &argument, nullptr, nullptr);
  if (count < 1 || napi_get_value_double(env, argument, &wanted) != napi_ok || !(wanted > 0))
    return result;
  const size_t page = 2 << 20, size = ((size_t)wanted + page - 1) / page * page;
  char* whole = (char*)mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);
  if (whole == MAP_FAILED) return result;
  char* memory = (char*)(((uintptr_t)whole + page - 1) / page * page);
  if (memory > whole) munmap(whole, (size_t)(memory - whole));
  if (memory < whole + page) munmap(memory + size, (size_t)(whole + page - memory));
#if defined(MADV_HUGEPAGE)
  madvise(memory, size, MADV_HUGEPAGE);
#endif
  auto release = [](napi_env, void* data, void* bytes) { munmap(data, (size_t)bytes); };
  napi_value buffer;
  if (napi_create_external_arraybuffer(env, memory, (size_t)wanted, release, (void*)size, &buffer) ==
      napi_ok)
    return buffer;
  munmap(memory, size);
  return result;
}
#endif

// address_of(array): where a typed array's values are, which is where they stay.
napi_value address_of(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value array, result = nullptr;
  void* data = nullptr;
  napi_get_cb_info(env, info, &count, &array, nullptr, nullptr);
  if (count < 1 || napi_get_typedarray_info(env, array, nullptr, nullptr, &data, nullptr, nullptr) != napi_ok) {
    napi_throw_type_error(env, nullptr, "Cannot find an address: there must be a typed array");
    return nullptr;
  }
  napi_create_double(env, (double)(uintptr_t)data, &result);
  return result;
}

// The pool's threads run this library's code: it must not go when a worker that loaded it ends.
void stay_loaded() {
#if defined(_WIN32)
  HMODULE self;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                     (LPCWSTR)&stay_loaded, &self);
#else
  Dl_info self;
  if (dladdr((void*)&stay_loaded, &self)) dlopen(self.dli_fname, RTLD_NOW | RTLD_LOCAL);
#endif
}

}  // namespace

NAPI_MODULE_INIT() {
  stay_loaded();
  const char* isa = "portable";
  void (*fill)(napi_env, napi_value) = arpo_base::fill;
#if defined(__aarch64__)
  isa = "neon";
#elif defined(__x86_64__)
  isa = "sse2";
  // ARPO_LAB_ISA narrows the choice, so that every path can be tested on one machine.
  const char* limit = getenv("ARPO_LAB_ISA");
  bool narrow = limit && !strcmp(limit, "sse2");
  bool middle = limit && (!strcmp(limit, "avx2") || !strcmp(limit, "avx-vnni"));
  const Processor processor;
  if (!narrow && processor.avx2) {
    isa = "avx2";
    fill = arpo_avx2::fill;
    if (!middle && processor.avx512) {
      isa = "avx512";
      fill = arpo_avx512::fill;
    }
  }
#endif
  fill(env, exports);
  const struct {
    const char* name;
    napi_callback function;
  } own[] = {{"map_file", map_file},
             {"forget_file", forget_file},
             {"map_memory", map_memory},
             {"address_of", address_of}};
  for (const auto& entry : own) {
    napi_value function;
    napi_create_function(env, entry.name, NAPI_AUTO_LENGTH, entry.function, nullptr, &function);
    napi_set_named_property(env, exports, entry.name, function);
  }
  napi_value text;
  napi_create_string_utf8(env, isa, NAPI_AUTO_LENGTH, &text);
  napi_set_named_property(env, exports, "isa", text);
  return exports;
}
