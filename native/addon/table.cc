// Compiled once per instruction set: turns every exported function into one that Node can call.
#include <node_api.h>

#include "../src/exports.h"
#include "../src/signature.h"

namespace ARPO_NS {
namespace {

// Where a conversion fails, the error is already pending in `env` and the call is not made.
struct Call {
  napi_env env;
  napi_value arguments[40];
  const char* name;
  bool failed = false;

  void fail(size_t i, const char* wanted) {
    failed = true;
    char text[160], *to = text;
    auto put = [&](const char* s) {
      while (*s && to < text + sizeof text - 1) *to++ = *s++;
    };
    char number[3] = {(char)('0' + (i + 1) / 10), (char)('0' + (i + 1) % 10), 0};
    put("Cannot call ");
    put(name);
    put(": argument ");
    put(number);
    put(" must be ");
    put(wanted);
    *to = 0;
    napi_throw_type_error(env, nullptr, text);
  }
  void* array(size_t i, napi_typedarray_type wanted, const char* type) {
    napi_typedarray_type type_found;
    void* data = nullptr;
    if (napi_get_typedarray_info(env, arguments[i], &type_found, nullptr, &data, nullptr,
                                 nullptr) == napi_ok) {
      if (type_found == wanted) return data;
    } else {
      napi_valuetype kind;
      if (napi_typeof(env, arguments[i], &kind) == napi_ok &&
          (kind == napi_null || kind == napi_undefined))
        return nullptr;
    }
    fail(i, type);
    return nullptr;
  }
};

template <class T>
T convert(Call& call, size_t i);
template <>
double convert<double>(Call& call, size_t i) {
  double x = 0;
  if (napi_get_value_double(call.env, call.arguments[i], &x) != napi_ok) call.fail(i, "a number");
  return x;
}
template <>
float convert<float>(Call& call, size_t i) {
  return (float)convert<double>(call, i);
}
template <>
int convert<int>(Call& call, size_t i) {
  int32_t x = 0;
  if (napi_get_value_int32(call.env, call.arguments[i], &x) == napi_ok) return x;
  bool flag = false;
  if (napi_get_value_bool(call.env, call.arguments[i], &flag) != napi_ok)
    call.fail(i, "an integer or a boolean");
  return flag;
}
#define ARPO_ARRAY(T, kind, text)                                       \
  template <>                                                           \
  const T* convert<const T*>(Call & call, size_t i) {                   \
    return (const T*)call.array(i, kind, text);                         \
  }                                                                     \
  template <>                                                           \
  T* convert<T*>(Call & call, size_t i) {                               \
    return (T*)call.array(i, kind, text);                               \
  }
ARPO_ARRAY(float, napi_float32_array, "a Float32Array")
ARPO_ARRAY(double, napi_float64_array, "a Float64Array")
ARPO_ARRAY(int32_t, napi_int32_array, "an Int32Array")
ARPO_ARRAY(uint32_t, napi_uint32_array, "a Uint32Array")
ARPO_ARRAY(uint16_t, napi_uint16_array, "a Uint16Array")
ARPO_ARRAY(uint8_t, napi_uint8_array, "a Uint8Array")

template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool value = true;
};
template <size_t... I>
struct Indices {};
template <size_t N, size_t... I>
struct Count : Count<N - 1, N - 1, I...> {};
template <size_t... I>
struct Count<0, I...> {
  typedef Indices<I...> Type;
};

template <class T>
T take(Call& call, size_t i) {
  return call.failed ? T() : convert<T>(call, i);
}

template <class R, class... A>
struct Invoke {
  napi_value result = nullptr;
  Invoke(Call& call, R (*function)(A...), A... values) {
    if (call.failed) return;
    if constexpr (Same<R, void>::value) {
      function(values...);
    } else {
      napi_create_double(call.env, (double)function(values...), &result);
    }
  }
};

// Braces fix the order of conversion: the first bad argument is the one reported.
template <class R, class... A, size_t... I>
napi_value apply(Call& call, R (*function)(A...), Indices<I...>) {
  return Invoke<R, A...>{call, function, take<A>(call, I)...}.result;
}

template <class R, class... A>
napi_value enter(napi_env env, napi_callback_info info, const char* name, R (*function)(A...)) {
  static_assert(sizeof...(A) <= 40, "more arguments than Call holds");
  Call call;
  call.env = env;
  call.name = name;
  size_t count = 40;
  napi_get_cb_info(env, info, &count, call.arguments, nullptr, nullptr);
  if (count < sizeof...(A)) {
    call.fail(count, "given");
    return nullptr;
  }
  return apply(call, function, typename Count<sizeof...(A)>::Type());
}

}  // namespace

void fill(napi_env env, napi_value exports) {
  napi_value signatures;
  napi_create_object(env, &signatures);
#define ARPO_REGISTER(NAME)                                                                 \
  {                                                                                         \
    napi_value function, text;                                                              \
    napi_create_function(                                                                   \
        env, #NAME, sizeof #NAME - 1,                                                       \
        [](napi_env e, napi_callback_info i) { return enter(e, i, #NAME, &ARPO_NS::NAME); }, \
        nullptr, &function);                                                                \
    napi_set_named_property(env, exports, #NAME, function);                                 \
    const char* spelled = Signature<decltype(&ARPO_NS::NAME)>::text;                        \
    napi_create_string_latin1(env, spelled, NAPI_AUTO_LENGTH, &text);                       \
    napi_set_named_property(env, signatures, #NAME, text);                                  \
  }
  ARPO_EXPORTS(ARPO_REGISTER)
  napi_set_named_property(env, exports, "signatures", signatures);
}

}  // namespace ARPO_NS
