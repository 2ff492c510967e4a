#include "decoder.h"

#include "attend.h"
#include "linear.h"
#include "pool.h"
#include "sampler.h"
#include "vec.h"

namespace ARPO_NS {
namespace {

enum {
  CHUNK = 256,        // tokens that go through the layers together
  SLAB_BYTES = 4 << 20,
  LOGITS_LIMIT = 1 << 24,  // floats of logits held at once
};

struct Layer {
  float *input_norm, *post_norm, *qkv_bias, *query_norm, *key_norm;
  Linear qkv, output, gate, up, down;
};

// A layer's matrices: the linear of each, and its shape.
struct Place {
  Linear* linear;
  int out, in;
};

struct Decoder {
  int vocab, hidden, layers, heads, kv_heads, head_dim, ff;
  float eps;
  Format format;
  Layer* layer;
  float* final_norm;
  Linear head;
  int8_t* matrices;  // of all layers, one after the other, so that they fill large pages
  float *cos, *sin;
  float** slabs;
  int slab_count, pages_per_slab;
  size_t page_floats;
  float* work;
  size_t work_floats;

  int qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
  int group() const { return heads / kv_heads; }
};

Decoder* at(double address) { return (Decoder*)(uintptr_t)address; }
inline int least(int a, int b) { return a < b ? a : b; }
inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

float* floats(size_t count) { return (float*)arpo_alloc(count * sizeof(float)); }

void keep(float** slot, const float* values, size_t count) {
  if (!values) return;
  if (!*slot) *slot = floats(count);
  memcpy(*slot, values, count * sizeof(float));
}

void norm(const float* x, const float* weight, int n, float eps, float* out) {
  vec squares = {};
  int i = 0;
  for (; i + LANES <= n; i += LANES) {
    vec v = load(x + i);
    squares += v * v;
  }
  float sum = lane_sum(squares);
  for (; i < n; i++) sum += x[i] * x[i];
  float scale = 1.0f / __builtin_sqrtf(sum / n + eps);
  for (i = 0; i + LANES <= n; i += LANES) store(out + i, load(x + i) * scale * load(weight + i));
  for (; i < n; i++) out[i] = x[i] * scale * weight[i];
}

// Adds the bias, norms and turns one head in place.
void finish_head(const Decoder& m, float* head, const float* bias, const float* weight,
                 int position) {
  int half = m.head_dim / 2;
  if (bias)
    for (int d = 0; d < m.head_dim; d++) head[d] += bias[d];
  if (weight) norm(head, weight, m.head_dim, m.eps, head);
  const float* cos = m.cos + (ptrdiff_t)position * half;
  const float* sin = m.sin + (ptrdiff_t)position * half;
  for (int d = 0; d < half; d++) {
    float a = head[d], b = head[d + half];
    head[d] = a * cos[d] - b * sin[d];
    head[d + half] = b * cos[d] + a * sin[d];
  }
}

// What one chunk of a step works on.
struct Chunk {
  int tokens;
  int feeds;
  const int32_t* feed;      // which feeds have tokens in the chunk
  const int32_t* start;     // their first token in the chunk
  const int32_t* count;     // how many
  const int32_t* position;  // the position of the first
};

struct Pages {
  const int32_t* list;
  const int32_t* offsets;
};

struct Buffers {
  float *x, *h, *qkv, *mixed, *gate, *up, *room;
};

void norm_rows(const Decoder& m, const float* x, const float* weight, int rows, float* out) {
  auto row = [&](int i) {
    norm(x + (ptrdiff_t)i * m.hidden, weight, m.hidden, m.eps, out + (ptrdiff_t)i * m.hidden);
  };
  if ((double)rows * m.hidden < 65536) {
    for (int i = 0; i < rows; i++) row(i);
    return;
  }
  parallel(ceil_div(rows, 16), [&](int block, int) {
    for (int i = block * 16; i < least(rows, block * 16 + 16); i++) row(i);
  });
}

// Keys and values of the new tokens into the cache, then attention; one task per feed and kv head.
void attention(const Decoder& m, int index, const Chunk& c, const Pages& pages, const Buffers& b) {
  const Layer& layer = m.layer[index];
  int width = m.qkv_width(), hd = m.head_dim, group = m.group();
  float scale = 1.0f / __builtin_sqrtf((float)hd);
  parallel(c.feeds * m.kv_heads, [&](int task, int thread) {
    int i = task / m.kv_heads, kv = task % m.kv_heads;
    HeadCache cache = {m.slabs, m.pages_per_slab, m.page_floats,
                       ((size_t)index * m.kv_heads + kv) * head_floats(hd), hd, value_stride(hd)};
    const int32_t* list = pages.list + pages.offsets[c.feed[i]];
    int q0 = kv * group * hd, k0 = (m.heads + kv) * hd, v0 = (m.heads + m.kv_heads + kv) * hd;
    auto bias = [&](int offset) { return layer.qkv_bias ? layer.qkv_bias + offset : nullptr; };
    for (int t = 0; t < c.count[i]; t++) {
      float* row = b.qkv + (ptrdiff_t)(c.start[i] + t) * width;
      finish_head(m, row + k0, bias(k0), layer.key_norm, c.position[i] + t);
      if (layer.qkv_bias)
        for (int d = 0; d < hd; d++) row[v0 + d] += layer.qkv_bias[v0 + d];
      write_key_value(cache, list, c.position[i] + t, row + k0, row + v0);
    }
    for (int t = 0; t < c.count[i]; t++) {
      float* row = b.qkv + (ptrdiff_t)(c.start[i] + t) * width;
      for (int q = 0; q < group; q++) {
        float* head = row + q0 + q * hd;
        finish_head(m, head, bias(q0 + q * hd), layer.query_norm, c.position[i] + t);
        for (int d = 0; d < hd; d++) head[d] *= scale;
      }
      attend(thread, cache, list, c.position[i] + t, group, row + q0, hd,
             b.mixed + (ptrdiff_t)(c.start[i] + t) * m.heads * hd + q0, hd);
    }
  });
}

// gate = silu(h Wg) * (h Wu), by blocks of columns.
void gated(const Decoder& m, const Layer& layer, const Input& h, const Buffers& b) {
  int width = linear_width(), blocks = ceil_div(m.ff, width);
  int per_task = linear_blocks_per_task(layer.gate, 2 * h.rows);
  parallel(ceil_div(blocks, per_task), [&](int task, int thread) {
    int from = task * per_task, to = least(blocks, from + per_task);
    linear_columns(thread, layer.gate, h, from, to, false, b.gate, m.ff);
    linear_columns(thread, layer.up, h, from, to, false, b.up, m.ff);
    int column = from * width, columns = least(m.ff, to * width) - column;
    for (int i = 0; i < h.rows; i++) {
      float* g = b.gate + (ptrdiff_t)i * m.ff + column;
      const float* u = b.up + (ptrdiff_t)i * m.ff + column;
      int j = 0;
      for (; j + LANES <= columns; j += LANES) {
        vec x = load(g + j);
        store(g + j, x / (1.0f + vexp(-x)) * load(u + j));
      }
      if (j < columns) {
        vec x = load_part(g + j, columns - j);
        store_part(g + j, x / (1.0f + vexp(-x)) * load_part(u + j, columns - j), columns - j);
      }
    }
  });
}

void layers(const Decoder& m, const Chunk& c, const Pages& pages, const Buffers& b) {
  int d = m.hidden, rows = c.tokens;
  for (int i = 0; i < m.layers; i++) {
    const Layer& layer = m.layer[i];
    norm_rows(m, b.x, layer.input_norm, rows, b.h);
    linear_all(layer.qkv, linear_input(layer.qkv, b.h, rows, b.room), false, b.qkv, m.qkv_width());
    attention(m, i, c, pages, b);
    linear_all(layer.output, linear_input(layer.output, b.mixed, rows, b.room), true, b.x, d);
    norm_rows(m, b.x, layer.post_norm, rows, b.h);
    gated(m, layer, linear_input(layer.gate, b.h, rows, b.room), b);
    linear_all(layer.down, linear_input(layer.down, b.gate, rows, b.room), true, b.x, d);
  }
}

// Logits and choices for rows [0, feeds) of last hidden states; the first bad row, or -1.
int choose(const Decoder& m, const float* last, int feeds, float* logits, int held, float* room,
           const Sampling& sampling) {
  for (int from = 0; from < feeds; from += held) {
    int rows = least(held, feeds - from);
    Input input = linear_input(m.head, last + (ptrdiff_t)from * m.hidden, rows, room);
    linear_all(m.head, input, false, logits, m.vocab);
    int32_t bad = feeds;
    parallel(rows, [&](int i, int thread) {
      if (sample_row(thread, logits + (ptrdiff_t)i * m.vocab, m.vocab, sampling, from + i)) return;
      int32_t known = __atomic_load_n(&bad, __ATOMIC_RELAXED);
      while (from + i < known &&
             !__atomic_compare_exchange_n(&bad, &known, from + i, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED)) {
      }
    });
    if (bad < feeds) return bad;
  }
  return -1;
}

void need_pages(Decoder& m, int pages) {
  int slabs = ceil_div(pages, m.pages_per_slab);
  if (slabs <= m.slab_count) return;
  float** grown = (float**)arpo_alloc(slabs * sizeof(float*));
  if (m.slabs) memcpy(grown, m.slabs, m.slab_count * sizeof(float*));
  for (int i = m.slab_count; i < slabs; i++) grown[i] = floats(m.page_floats * m.pages_per_slab);
  arpo_free(m.slabs);
  m.slabs = grown;
  m.slab_count = slabs;
}

struct Places {
  Place list[5];
};
Places places_of(const Decoder& m, Layer& layer) {
  const int d = m.hidden, attended = m.heads * m.head_dim;
  return {{{&layer.qkv, m.qkv_width(), d},
           {&layer.output, d, attended},
           {&layer.gate, m.ff, d},
           {&layer.up, m.ff, d},
           {&layer.down, d, m.ff}}};
}

void place_matrices(Decoder& m) {
  size_t bytes = 0;
  for (const Place& place : places_of(m, m.layer[0]).list) bytes += linear_bytes(place.out, place.in);
  m.matrices = (int8_t*)arpo_alloc(bytes * m.layers);
  int8_t* at = m.matrices;
  for (int i = 0; i < m.layers; i++)
    for (const Place& place : places_of(m, m.layer[i]).list) {
      linear_place(*place.linear, place.out, place.in, at);
      at += linear_bytes(place.out, place.in);
    }
}

float* page_of(const Decoder& m, int page) {
  return m.slabs[page / m.pages_per_slab] + (size_t)(page % m.pages_per_slab) * m.page_floats;
}

}  // namespace

double decoder_create(const int32_t* shape, float eps) {
  Decoder* m = (Decoder*)arpo_alloc(sizeof(Decoder));
  memset(m, 0, sizeof(Decoder));
  m->vocab = shape[0], m->hidden = shape[1], m->layers = shape[2], m->heads = shape[3];
  m->kv_heads = shape[4], m->head_dim = shape[5], m->ff = shape[6], m->eps = eps;
  m->format = (Format)shape[7];
  m->layer = (Layer*)arpo_alloc(sizeof(Layer) * (m->layers + 1));
  memset(m->layer, 0, sizeof(Layer) * (m->layers + 1));
  m->page_floats = (size_t)m->layers * m->kv_heads * head_floats(m->head_dim);
  size_t fit = m->page_floats ? SLAB_BYTES / (m->page_floats * sizeof(float)) : 1;
  m->pages_per_slab = fit < 1 ? 1 : (int)fit;
  return (double)(uintptr_t)m;
}

void decoder_destroy(double address) {
  Decoder* m = at(address);
  for (int i = 0; i < m->layers; i++) {
    Layer& layer = m->layer[i];
    float* owned[] = {layer.input_norm, layer.post_norm, layer.qkv_bias, layer.query_norm,
                      layer.key_norm};
    for (float* memory : owned) arpo_free(memory);
    if (!m->matrices)
      for (const Place& place : places_of(*m, layer).list) linear_free(*place.linear);
  }
  for (int i = 0; i < m->slab_count; i++) arpo_free(m->slabs[i]);
  arpo_free(m->layer);
  arpo_free(m->matrices);
  arpo_free(m->final_norm);
  linear_free(m->head);
  arpo_free(m->cos);
  arpo_free(m->sin);
  arpo_free(m->slabs);
  arpo_free(m->work);
  arpo_free(m);
}

void decoder_load_layer(double address, int index, const float* input_norm, const float* query,
                        const float* key, const float* value, const float* query_bias,
                        const float* key_bias, const float* value_bias, const float* query_norm,
                        const float* key_norm, const float* output, const float* post_norm,
                        const float* gate, const float* up, const float* down) {
  Decoder* m = at(address);
  Layer& layer = m->layer[index];
  int d = m->hidden, q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
  keep(&layer.input_norm, input_norm, d);
  keep(&layer.post_norm, post_norm, d);
  keep(&layer.query_norm, query_norm, m->head_dim);
  keep(&layer.key_norm, key_norm, m->head_dim);
  if (query_bias || key_bias || value_bias) {
    if (!layer.qkv_bias) layer.qkv_bias = floats(q + 2 * kv);
    memset(layer.qkv_bias, 0, sizeof(float) * (q + 2 * kv));
    if (query_bias) memcpy(layer.qkv_bias, query_bias, sizeof(float) * q);
    if (key_bias) memcpy(layer.qkv_bias + q, key_bias, sizeof(float) * kv);
    if (value_bias) memcpy(layer.qkv_bias + q + kv, value_bias, sizeof(float) * kv);
  }
  if (m->format != Format::exact) return;
  // One product gives queries, keys and values.
  float* joined = floats((size_t)(q + 2 * kv) * d);
  memcpy(joined, query, sizeof(float) * q * d);
  memcpy(joined + (size_t)q * d, key, sizeof(float) * kv * d);
  memcpy(joined + (size_t)(q + kv) * d, value, sizeof(float) * kv * d);
  if (!m->matrices) place_matrices(*m);
  linear_load(layer.qkv, joined, q + 2 * kv, d);
  arpo_free(joined);
  linear_load(layer.output, output, d, q);
  linear_load(layer.gate, gate, m->ff, d);
  linear_load(layer.up, up, m->ff, d);
  linear_load(layer.down, down, d, m->ff);
}

void decoder_load_ends(double address, const float* final_norm, const float* head) {
  Decoder* m = at(address);
  keep(&m->final_norm, final_norm, m->hidden);
  if (m->format == Format::exact) linear_load(m->head, head, m->vocab, m->hidden);
}

int decoder_load_rows(double address, int index, int matrix, int first, int rows, const float* whole,
                      const uint16_t* half) {
  Decoder* m = at(address);
  Layer& layer = m->layer[index];
  const Place place =
      matrix < 5 ? places_of(*m, layer).list[matrix] : Place{&m->head, m->vocab, m->hidden};
  return linear_load_narrow(*place.linear, m->format, {whole, half}, place.out, place.in, first, rows);
}

void decoder_load_rope(double address, const float* cos, const float* sin, int positions) {
  Decoder* m = at(address);
  arpo_free(m->cos);
  arpo_free(m->sin);
  m->cos = m->sin = nullptr;
  keep(&m->cos, cos, (size_t)positions * (m->head_dim / 2));
  keep(&m->sin, sin, (size_t)positions * (m->head_dim / 2));
}

double decoder_page_bytes(double address) { return (double)at(address)->page_floats * sizeof(float); }

void decoder_trim(double address, int pages) {
  Decoder* m = at(address);
  int slabs = ceil_div(pages, m->pages_per_slab);
  while (m->slab_count > slabs) arpo_free(m->slabs[--m->slab_count]);
}

int decoder_step(double address, const float* embedded, const int32_t* offsets,
                 const int32_t* from, int feeds, const int32_t* page_list,
                 const int32_t* page_offsets, const int32_t* copies, int copy_count,
                 const float* temperature, const int32_t* top_k, const float* top_p,
                 const float* min_p, const float* penalty, const double* uniform,
                 const uint32_t* allowed, const int32_t* seen, const int32_t* seen_offsets, int top,
                 int32_t* tokens, float* logprobs, float* entropies, int32_t* top_ids,
                 float* top_logprobs) {
  Decoder& m = *at(address);
  int d = m.hidden, total = offsets[feeds];
  int most = 0;
  for (int i = 0; i < page_offsets[feeds]; i++)
    if (page_list[i] >= most) most = page_list[i] + 1;
  need_pages(m, most);
  for (int i = 0; i < copy_count; i++)
    memcpy(page_of(m, copies[2 * i + 1]), page_of(m, copies[2 * i]), sizeof(float) * m.page_floats);

  int chunk = least(CHUNK, total), attended = m.heads * m.head_dim;
  int held = LOGITS_LIMIT / m.vocab;
  if (held < 8) held = 8;
  held = least(least(held, CHUNK), feeds);
  int widest = d > attended ? d : attended;
  widest = widest > m.ff ? widest : m.ff;
  size_t room = linear_input_floats(chunk > held ? chunk : held, widest);
  size_t per_token = (size_t)2 * d + m.qkv_width() + attended + 2 * m.ff;
  size_t wanted = room + chunk * per_token + (size_t)2 * feeds * d + (size_t)held * m.vocab +
                  4 * feeds;
  if (m.work_floats < wanted) {
    arpo_free(m.work);
    m.work = floats(wanted);
    m.work_floats = wanted;
  }
  float* free = m.work;
  auto take = [&](size_t count) {
    float* taken = free;
    free += count;
    return taken;
  };
  Buffers b;
  b.room = take(room);
  b.x = take((size_t)chunk * d), b.h = take((size_t)chunk * d);
  b.qkv = take((size_t)chunk * m.qkv_width()), b.mixed = take((size_t)chunk * attended);
  b.gate = take((size_t)chunk * m.ff), b.up = take((size_t)chunk * m.ff);
  float* last = take((size_t)feeds * d);
  float* last_normed = take((size_t)feeds * d);
  float* logits = take((size_t)held * m.vocab);
  int32_t* lists = (int32_t*)take((size_t)4 * feeds);

  int feed = 0;
  for (int begin = 0; begin < total; begin += chunk) {
    int end = least(total, begin + chunk);
    memcpy(b.x, embedded + (ptrdiff_t)begin * d, sizeof(float) * (end - begin) * d);
    Chunk c = {end - begin, 0, lists, lists + feeds, lists + 2 * feeds, lists + 3 * feeds};
    int first = feed;
    for (; feed < feeds && offsets[feed] < end; feed++) {
      int a = offsets[feed] > begin ? offsets[feed] : begin;
      int z = least(offsets[feed + 1], end);
      lists[c.feeds] = feed;
      lists[feeds + c.feeds] = a - begin;
      lists[2 * feeds + c.feeds] = z - a;
      lists[3 * feeds + c.feeds] = from[feed] + a - offsets[feed];
      c.feeds++;
      if (offsets[feed + 1] > end) break;
    }
    layers(m, c, {page_list, page_offsets}, b);
    for (int i = first; i < first + c.feeds; i++)
      if (offsets[i + 1] <= end)
        memcpy(last + (ptrdiff_t)i * d, b.x + (ptrdiff_t)(offsets[i + 1] - 1 - begin) * d,
               sizeof(float) * d);
  }
  norm_rows(m, last, m.final_norm, feeds, last_normed);
  Sampling sampling = {temperature, top_k,        top_p, min_p,  penalty,  uniform,   allowed, seen,
                       seen_offsets, top, tokens, logprobs, entropies, top_ids, top_logprobs};
  return choose(m, last_normed, feeds, logits, held, b.room, sampling);
}

}  // namespace ARPO_NS
