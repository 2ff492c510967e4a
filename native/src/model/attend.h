// Attention of one position over the pages of its row, for the query heads of one key-value head.
#pragma once
#include "../platform.h"

namespace ARPO_NS {

// In a page, for each layer and key-value head: keys transposed (head_dim x PAGE), then values
// (PAGE x value_stride); `value_stride` is head_dim rounded up to whole vectors.
struct HeadCache {
  float* const* slabs;
  int pages_per_slab;
  size_t page_floats;
  size_t offset;  // of the layer and head within a page, in numbers
  int head_dim;
  int value_stride;
  bool half;  // float16 in place of float
};

int value_stride(int head_dim);
size_t head_numbers(int head_dim);  // even

template <class T>
inline T* page_at(const HeadCache& cache, int page) {
  return (T*)(cache.slabs[page / cache.pages_per_slab] +
              (size_t)(page % cache.pages_per_slab) * cache.page_floats) +
         cache.offset;
}

void write_key_value(const HeadCache& cache, const int32_t* pages, int position, const float* key,
                     const float* value);

// out[q] = attention of query q over positions `first` to `position`, for `queries` queries of head_dim
// each, `query_stride` apart and already scaled. Uses scratch slot 4 of the thread.
void attend(int thread, const HeadCache& cache, const int32_t* pages, int first, int position, int queries,
            const float* query, int query_stride, float* out, int out_stride);

}  // namespace ARPO_NS
