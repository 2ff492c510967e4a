// Products on the processor's matrix tiles (AMX), to float32's accuracy.
//
// Tiles know 8-bit integers. A vector of numbers (a row of A, a column of B) becomes 24-bit integers,
// scaled by its largest, and each integer three signed digits. Six of the nine digit products are
// summed exactly, the three below float32's last place are left out. So an element of C depends on its
// row of A and its column of B and on nothing else: same bytes alone, in a batch, on any number of
// threads.
#pragma once
#include "gemm.h"
#include "../platform.h"

namespace ARPO_NS {

// Whether this machine has them.
bool tiles_here();

// Vectors are kept by sixteens; one such block holds 16 vectors of k numbers.
enum { TILE_SIDE = 16 };
size_t tile_block_bytes(int k);

enum class Side { left, right };  // rows of A, or columns of B

// Where vectors come from: number p of vector i is at data[i * vector + p * step]; one of the two
// distances is 1.
struct Vectors {
  const float* data;
  ptrdiff_t vector, step;
  int count, k;
};

// Blocks [from, to) of the vectors into `blocks`.
void tile_split(const Vectors& vectors, Side side, int from, int to, int8_t* blocks);

// C = alpha A B or C += alpha A B, for the first `rows` rows of the left blocks and `columns` columns of
// the right ones; `far` where the right blocks come from main memory.
void tile_multiply(const int8_t* left, int rows, const int8_t* right, int columns, int k, float alpha,
                   bool accumulate, float* c, int ldc, bool far);

// Products on the pool: B prepared once for many, or with the rest.
void tile_prepare(int n, int k, Matrix b, int8_t* right);
void gemm_tiles_prepared(int m, int n, int k, float alpha, Matrix a, const int8_t* right,
                         bool accumulate, float* c, int ldc);
void gemm_tiles(int m, int n, int k, float alpha, Matrix a, Matrix b, bool accumulate, float* c,
                int ldc);
// The products of digits alone, on tiles that are at hand (machine.h): how many of float32's operations.
double tile_peak(int rounds);

}  // namespace ARPO_NS
