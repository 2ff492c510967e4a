// Spells a function's type for JavaScript: one letter for the result, then one per argument.
// v void, i int, f float, d double; pointers: lower case read, upper case written, by element
// s float ("single"), l double ("long"), n int32, u uint32, h uint16, b uint8.
#pragma once
#include "platform.h"

namespace ARPO_NS {

template <class T>
struct Letter;
#define ARPO_LETTER(type, letter) \
  template <>                     \
  struct Letter<type> {           \
    static constexpr char value = letter; \
  };
ARPO_LETTER(void, 'v')
ARPO_LETTER(int, 'i')
ARPO_LETTER(float, 'f')
ARPO_LETTER(double, 'd')
ARPO_LETTER(const float*, 's')
ARPO_LETTER(float*, 'S')
ARPO_LETTER(const double*, 'l')
ARPO_LETTER(double*, 'L')
ARPO_LETTER(const int32_t*, 'n')
ARPO_LETTER(int32_t*, 'N')
ARPO_LETTER(const uint32_t*, 'u')
ARPO_LETTER(uint32_t*, 'U')
ARPO_LETTER(const uint16_t*, 'h')
ARPO_LETTER(uint16_t*, 'H')
ARPO_LETTER(const uint8_t*, 'b')
ARPO_LETTER(uint8_t*, 'B')
#undef ARPO_LETTER

template <class F>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(A...)> {
  static constexpr char text[] = {Letter<R>::value, Letter<A>::value..., 0};
};

}  // namespace ARPO_NS
