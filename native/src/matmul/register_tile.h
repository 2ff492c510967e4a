// The register tile of matrix products: MR rows by NV vectors of accumulators, as many as the registers hold.
#pragma once
#include "../vec.h"

namespace ARPO_NS {

#if ARPO_LANES == 16 || defined(__aarch64__)
enum { MR = 8, NV = 3 };
#elif ARPO_LANES == 8
enum { MR = 4, NV = 3 };
#else
enum { MR = 4, NV = 2 };
#endif
enum { NR = NV * LANES };  // outputs side by side: linear_width()

}  // namespace ARPO_NS
