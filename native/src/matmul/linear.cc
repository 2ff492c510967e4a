#include "linear.h"

#include "../quantized/dots.h"
#include "../quantized/w16a16.h"
#include "gemm.h"
#include "../rows.h"
#include "tiles.h"

namespace ARPO_NS {

bool linear_splits() { return tiles_here(); }

int linear_width() { return (int)gemm_packed_size(1, 1); }

size_t linear_bytes(int out, int in) {
  const size_t bytes = linear_splits() ? ceil_div(out, TILE_SIDE) * tile_block_bytes(in)
                                       : gemm_packed_size(out, in) * sizeof(float);
  return (bytes + 63) / 64 * 64;
}

void linear_place(Linear& linear, int out, int in, int8_t* memory) {
  linear.out = out, linear.in = in, linear.split = linear_splits();
  linear.data = (float*)memory;
}

void linear_load(Linear& linear, const float* w, int out, int in) {
  if (!linear.data) linear_place(linear, out, in, (int8_t*)arpo_alloc(linear_bytes(out, in)));
  if (!linear.split) return gemm_pack(out, in, {w, in, true}, linear.data);
  tile_prepare(out, in, {w, in, true}, (int8_t*)linear.data);
}

namespace {
size_t narrow_form_bytes(Format format, int out, int in) {
  return is_dots(format)             ? dots_bytes(format, out, in)
         : format == Format::w16a16 ? w16a16_bytes(out, in)
                                    : narrow_bytes(format, out, in);
}
}  // namespace

int linear_load_narrow(Linear& linear, Format format, Stored w, int out, int in, int first, int rows) {
  if (linear.data && linear.format != format) linear_free(linear);
  if (!linear.data) {
    linear.out = out, linear.in = in, linear.format = format, linear.split = false;
    const size_t bytes = narrow_form_bytes(format, out, in);
    linear.data = (float*)arpo_alloc(bytes);
    memset(linear.data, 0, bytes);
  }
  return is_dots(format)             ? dots_load(format, linear.data, in, first, rows, w)
         : format == Format::w16a16 ? w16a16_load(linear.data, in, first, rows, w)
                                    : narrow_load(format, linear.data, out, in, first, rows, w);
}

void linear_free(Linear& linear) {
  arpo_free(linear.data);
  linear.data = nullptr;
}

size_t linear_input_floats(Format format, int rows, int in) {
  const size_t bytes = is_dots(format)                              ? rows * dots_row_bytes(in)
                       : format == Format::w16a16                   ? rows * w16a16_row_bytes(in)
                       : format == Format::exact && linear_splits() ? ceil_div(rows, TILE_SIDE) * tile_block_bytes(in)
                                                                    : 0;
  return bytes ? bytes / sizeof(float) + 16 : 0;
}

Input linear_input(const Team& team, const Linear& linear, const float* x, int rows, float* room) {
  const int in = linear.in;
  const bool dots = is_dots(linear.format), rounds = linear.format == Format::w16a16;
  if (!linear.split && !dots && !rounds) return {x, rows, in, nullptr};
  int8_t* prepared = (int8_t*)(((uintptr_t)room + 63) / 64 * 64);
  const Vectors vectors = {x, in, 1, rows, in};
  const int count = ceil_div(rows, TILE_SIDE);
  auto prepare = [&](int from, int to) {
    if (dots) {
      dots_rows(x, in, from * TILE_SIDE, least(rows, to * TILE_SIDE), prepared);
    } else if (rounds) {
      w16a16_rows(x, in, from * TILE_SIDE, least(rows, to * TILE_SIDE), prepared);
    } else {
      tile_split(vectors, Side::left, from, to, prepared);
    }
  };
  if ((double)rows * in < 16384) {
    prepare(0, count);
  } else {
    team.each(count, [&](int block, int) { prepare(block, block + 1); });
  }
  return {x, rows, in, prepared};
}

void linear_columns(int thread, const Linear& linear, const Input& input, int from, int to,
                    bool add, float* y, int ldy) {
  const int width = linear_width(), column = from * width;
  const int columns = least(linear.out, to * width) - column;
  if (linear.split) {
    const int8_t* right = (const int8_t*)linear.data + column / TILE_SIDE * tile_block_bytes(linear.in);
    tile_multiply(input.prepared, input.rows, right, columns, linear.in, 1, add, y + column, ldy, true);
    return;
  }
  if (is_dots(linear.format)) {
    dots_columns(linear.format, linear.data, linear.out, linear.in, input.prepared, input.rows, from, to, add, y, ldy);
    return;
  }
  if (linear.format == Format::w16a16) {
    w16a16_columns(linear.data, linear.out, linear.in, input.prepared, input.rows, from, to, add, y, ldy);
    return;
  }
  if (linear.format != Format::exact) {
    narrow_columns(thread, linear.format, linear.data, linear.out, linear.in, input.x, input.rows, from, to, add,
                   y, ldy);
    return;
  }
  gemm_packed_serial(thread, input.rows, columns, linear.in, 1, {input.x, input.in, false},
                     linear.data + (ptrdiff_t)column * linear.in, add, y + column, ldy);
}

int linear_blocks_per_task(const Team& team, const Linear& linear, int rows) {
  int blocks = ceil_div(linear.out, linear_width());
  if (team.alone()) return blocks;
  // From far away it takes long stretches: a task's first block is not fetched ahead.
  int per_task = ceil_div(blocks, (linear.split ? 2 : 4) * team.threads());
  // Tasks of a few microseconds cost more to hand out than they save.
  double least_work = linear.split ? 2e6 : linear.format == Format::exact ? 5e5 : 1e5;
  while (per_task < blocks && (double)per_task * linear_width() * linear.in * rows < least_work)
    per_task++;
  return per_task;
}

void linear_ahead(const Team& team, const Linear& linear, int rows) {
  // More rows wait for products, not for weights.
  if (team.alone() || rows > 8) return;
  const int blocks = ceil_div(linear.out, linear_width()), per_task = linear_blocks_per_task(team, linear, rows);
  const size_t bytes = linear.format == Format::exact ? linear_bytes(linear.out, linear.in)
                                                      : narrow_form_bytes(linear.format, linear.out, linear.in);
  arpo_pool_ahead(linear.data, ceil_div(blocks, per_task), bytes / blocks * per_task);
}

void linear_all(const Team& team, const Linear& linear, const Input& input, bool add, float* y, int ldy) {
  int blocks = ceil_div(linear.out, linear_width());
  int per_task = linear_blocks_per_task(team, linear, input.rows);
  team.each(ceil_div(blocks, per_task), [&](int task, int thread) {
    linear_columns(thread, linear, input, task * per_task, least(blocks, task * per_task + per_task),
                   add, y, ldy);
  });
}

}  // namespace ARPO_NS
