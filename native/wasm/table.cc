// The list of functions with their signatures, for JavaScript to read out of memory. A function
// pointer in wasm is an index into the exported table.
#include "../src/exports.h"
#include "../src/signature.h"

namespace ARPO_NS {
namespace {

struct Entry {
  const char* name;
  const char* signature;
  void (*function)();
};

#define ARPO_ENTRY(NAME) \
  {#NAME, Signature<decltype(&ARPO_NS::NAME)>::text, (void (*)()) & ARPO_NS::NAME},
const Entry entries[] = {ARPO_EXPORTS(ARPO_ENTRY){nullptr, nullptr, nullptr}};

}  // namespace

extern "C" __attribute__((visibility("default"))) const void* arpo_table() { return entries; }

}  // namespace ARPO_NS
