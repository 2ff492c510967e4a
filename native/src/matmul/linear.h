// y = x W^T for weights that are used many times: prepared once, then a block of columns at a time.
//
// Where the processor has matrix tiles it is tiles.h: float32's accuracy, three bytes a weight and
// several times the speed. Elsewhere it is gemm.h. Either way an element's bytes do not depend on how
// many rows are in the call.
#pragma once
#include "../quantized/narrow.h"
#include "../platform.h"
#include "../pool.h"

namespace ARPO_NS {

struct Linear {
  int out, in;
  Format format;
  bool split;
  float* data;
};

// Rows of x ready for products: rounded where rounded numbers are what is multiplied, else as they are.
struct Input {
  const float* x;
  int rows, in;
  const int8_t* prepared;
};

bool linear_splits();  // whether this machine uses the split form

// Memory for the weights that whoever places them there owns; otherwise `linear_load` makes some.
size_t linear_bytes(int out, int in);
void linear_place(Linear& linear, int out, int in, int8_t* memory);

void linear_load(Linear& linear, const float* w, int out, int in);  // w is [out, in]
// Some rows of weights in fewer bits (narrow.h).
int linear_load_narrow(Linear& linear, Format format, Stored w, int out, int in, int first, int rows);
void linear_free(Linear& linear);

size_t linear_input_floats(Format format, int rows, int in);  // what `room` below must hold
Input linear_input(const Team& team, const Linear& linear, const float* x, int rows, float* room);

int linear_width();  // columns per block
// Columns of blocks [from, to): y (rows `ldy` apart) = x W^T, or += if `add`.
void linear_columns(int thread, const Linear& linear, const Input& input, int from, int to,
                    bool add, float* y, int ldy);
// All columns, shared out over the team.
void linear_all(const Team& team, const Linear& linear, const Input& input, bool add, float* y, int ldy);
// Tells waiting threads that its product with `rows` rows is the job after the next.
void linear_ahead(const Team& team, const Linear& linear, int rows);
// Blocks a task should have for `rows` rows to be worth handing out.
int linear_blocks_per_task(const Team& team, const Linear& linear, int rows);

}  // namespace ARPO_NS
