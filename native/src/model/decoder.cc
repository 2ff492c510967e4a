#include "decoder.h"

#include "attend.h"
#include "../quantized/dots.h"
#include "../matmul/linear.h"
#include "../pool.h"
#include "sampler.h"
#include "../vec.h"

namespace ARPO_NS {
namespace {

enum {
  CHUNK = 256,        // tokens that go through the layers together
  SLAB_BYTES = 4 << 20,
  LOGITS_LIMIT = 1 << 24,  // floats of logits held at once
  NEAR_BYTES = 16 << 20,   // of weights that every core has at hand
  LEAST_TOKENS = 16,       // for a thread of its own
  TABLES = 4,              // of rotary angles
};

struct Layer {
  float *input_norm, *post_norm, *qkv_bias, *query_norm, *key_norm;
  float *output_bias, *gate_bias, *up_bias, *down_bias, *attended_norm, *found_norm;
  int window, table;
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
  size_t weight_bytes;  // of what each token is multiplied with
  int8_t* matrices;  // of all layers, one after the other, so that they fill large pages
  float *cos[TABLES], *sin[TABLES];
  float** slabs;
  int slab_count, pages_per_slab;
  size_t page_floats;
  bool half_cache, gelu;
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
void finish_head(const Decoder& m, int table, float* head, const float* bias, const float* weight,
                 int position) {
  int half = m.head_dim / 2;
  if (bias)
    for (int d = 0; d < m.head_dim; d++) head[d] += bias[d];
  if (weight) norm(head, weight, m.head_dim, m.eps, head);
  const float* cos = m.cos[table] + (ptrdiff_t)position * half;
  const float* sin = m.sin[table] + (ptrdiff_t)position * half;
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

void norm_rows(const Decoder& m, const Team& team, const float* x, const float* weight, int rows,
               float* out) {
  auto row = [&](int i) {
    norm(x + (ptrdiff_t)i * m.hidden, weight, m.hidden, m.eps, out + (ptrdiff_t)i * m.hidden);
  };
  if ((double)rows * m.hidden < 16384) {
    for (int i = 0; i < rows; i++) row(i);
    return;
  }
  team.each(ceil_div(rows, 16), [&](int block, int) {
    for (int i = block * 16; i < least(rows, block * 16 + 16); i++) row(i);
  });
}

// Keys and values of the new tokens into the cache, then attention; one task per feed and kv head.
void attention(const Decoder& m, const Team& team, int index, const Chunk& c, const Pages& pages,
               const Buffers& b) {
  const Layer& layer = m.layer[index];
  int width = m.qkv_width(), hd = m.head_dim, group = m.group();
  float scale = 1.0f / __builtin_sqrtf((float)hd);
  team.each(c.feeds * m.kv_heads, [&](int task, int thread) {
    int i = task / m.kv_heads, kv = task % m.kv_heads;
    HeadCache cache = {m.slabs, m.pages_per_slab, m.page_floats,
                       ((size_t)index * m.kv_heads + kv) * head_numbers(hd), hd, value_stride(hd),
                       m.half_cache};
    const int32_t* list = pages.list + pages.offsets[c.feed[i]];
    int q0 = kv * group * hd, k0 = (m.heads + kv) * hd, v0 = (m.heads + m.kv_heads + kv) * hd;
    auto bias = [&](int offset) { return layer.qkv_bias ? layer.qkv_bias + offset : nullptr; };
    for (int t = 0; t < c.count[i]; t++) {
      float* row = b.qkv + (ptrdiff_t)(c.start[i] + t) * width;
      finish_head(m, layer.table, row + k0, bias(k0), layer.key_norm, c.position[i] + t);
      if (layer.qkv_bias)
        for (int d = 0; d < hd; d++) row[v0 + d] += layer.qkv_bias[v0 + d];
      write_key_value(cache, list, c.position[i] + t, row + k0, row + v0);
    }
    for (int t = 0; t < c.count[i]; t++) {
      float* row = b.qkv + (ptrdiff_t)(c.start[i] + t) * width;
      for (int q = 0; q < group; q++) {
        float* head = row + q0 + q * hd;
        finish_head(m, layer.table, head, bias(q0 + q * hd), layer.query_norm, c.position[i] + t);
        for (int d = 0; d < hd; d++) head[d] *= scale;
      }
      const int position = c.position[i] + t;
      const int first = layer.window > 0 && position >= layer.window ? position + 1 - layer.window : 0;
      attend(thread, cache, list, first, position, group, row + q0, hd,
             b.mixed + (ptrdiff_t)(c.start[i] + t) * m.heads * hd + q0, hd);
    }
  });
}

void add_bias_to(float* row, const float* bias, int count) {
  if (bias)
    for (int i = 0; i < count; i++) row[i] += bias[i];
}

template <class F>
ARPO_INLINE void gate_row(float* gate, const float* up, int count, const F& f) {
  int j = 0;
  for (; j + LANES <= count; j += LANES) store(gate + j, f(load(gate + j)) * load(up + j));
  if (j < count)
    store_part(gate + j, f(load_part(gate + j, count - j)) * load_part(up + j, count - j), count - j);
}

// gate = silu(h Wg) * (h Wu), or gelu, by blocks of columns.
void gated(const Decoder& m, const Team& team, const Layer& layer, const Input& h, const Buffers& b) {
  int width = linear_width(), blocks = ceil_div(m.ff, width);
  int per_task = linear_blocks_per_task(team, layer.gate, 2 * h.rows);
  team.each(ceil_div(blocks, per_task), [&](int task, int thread) {
    int from = task * per_task, to = least(blocks, from + per_task);
    linear_columns(thread, layer.gate, h, from, to, false, b.gate, m.ff);
    linear_columns(thread, layer.up, h, from, to, false, b.up, m.ff);
    int column = from * width, columns = least(m.ff, to * width) - column;
    for (int i = 0; i < h.rows; i++) {
      float* g = b.gate + (ptrdiff_t)i * m.ff + column;
      float* u = b.up + (ptrdiff_t)i * m.ff + column;
      if (layer.gate_bias) add_bias_to(g, layer.gate_bias + column, columns);
      if (layer.up_bias) add_bias_to(u, layer.up_bias + column, columns);
      if (m.gelu) gate_row(g, u, columns, [](vec x) { return vgelu(x); });
      else gate_row(g, u, columns, [](vec x) { return vsilu(x); });
    }
  });
}

// What a matrix finds, added to the stream: after a bias and a norm where the layer has them.
void add_found(const Decoder& m, const Team& team, const Linear& linear, const Input& x, const float* bias,
               const float* weight, int rows, const Buffers& b) {
  const int d = m.hidden;
  if (!bias && !weight) return linear_all(team, linear, x, true, b.x, d);
  linear_all(team, linear, x, false, b.h, d);
  team.each(rows, [&](int i, int) {
    float* found = b.h + (ptrdiff_t)i * d;
    add_bias_to(found, bias, d);
    if (weight) norm(found, weight, d, m.eps, found);
    add_bias_to(b.x + (ptrdiff_t)i * d, found, d);
  });
}

void layers(const Decoder& m, const Team& team, const Chunk& c, const Pages& pages, const Buffers& b) {
  int rows = c.tokens;
  auto input = [&](const Linear& linear, const float* x) {
    return linear_input(team, linear, x, rows, b.room);
  };
  for (int i = 0; i < m.layers; i++) {
    const Layer& layer = m.layer[i];
    linear_ahead(team, layer.output, rows);
    norm_rows(m, team, b.x, layer.input_norm, rows, b.h);
    linear_all(team, layer.qkv, input(layer.qkv, b.h), false, b.qkv, m.qkv_width());
    attention(m, team, i, c, pages, b);
    linear_ahead(team, layer.gate, 2 * rows);
    add_found(m, team, layer.output, input(layer.output, b.mixed), layer.output_bias, layer.attended_norm, rows, b);
    norm_rows(m, team, b.x, layer.post_norm, rows, b.h);
    const Input h = input(layer.gate, b.h);
    linear_ahead(team, layer.down, rows);
    gated(m, team, layer, h, b);
    linear_ahead(team, i + 1 < m.layers ? m.layer[i + 1].qkv : m.head, rows);
    add_found(m, team, layer.down, input(layer.down, b.gate), layer.down_bias, layer.found_norm, rows, b);
  }
}

// What a step is asked.
struct Step {
  const float* embedded;
  const int32_t *offsets, *from;
  Pages pages;
  Sampling sampling;
};

// Feeds [first, last) of a step, and the memory to work on them.
struct Part {
  int first, last;
  float* work;
};

// The sizes of a part's buffers.
struct Sizes {
  int chunk;   // tokens that go through the layers together
  int held;    // rows whose logits are held at once
  size_t room, floats;

  Sizes(const Decoder& m, int tokens, int feeds) {
    chunk = least(CHUNK, tokens);
    held = LOGITS_LIMIT / m.vocab;
    if (held < 8) held = 8;
    held = least(least(held, CHUNK), feeds);
    const int attended = m.heads * m.head_dim;
    int widest = m.hidden > attended ? m.hidden : attended;
    widest = widest > m.ff ? widest : m.ff;
    room = linear_input_floats(m.format, chunk > held ? chunk : held, widest);
    const size_t per_token = (size_t)2 * m.hidden + m.qkv_width() + attended + 2 * m.ff;
    floats = room + chunk * per_token + (size_t)2 * feeds * m.hidden + (size_t)held * m.vocab + 4 * feeds;
  }
};

// The last hidden states of a part's feeds, by chunks of tokens.
void read(const Decoder& m, const Team& team, const Step& step, const Part& part, const Sizes& sizes,
          const Buffers& b, int32_t* lists, float* last) {
  const int d = m.hidden, feeds = part.last - part.first;
  const int32_t* offsets = step.offsets;
  int feed = part.first;
  for (int begin = offsets[part.first], total = offsets[part.last]; begin < total; begin += sizes.chunk) {
    int end = least(total, begin + sizes.chunk);
    memcpy(b.x, step.embedded + (ptrdiff_t)begin * d, sizeof(float) * (end - begin) * d);
    Chunk c = {end - begin, 0, lists, lists + feeds, lists + 2 * feeds, lists + 3 * feeds};
    int first = feed;
    for (; feed < part.last && offsets[feed] < end; feed++) {
      int a = offsets[feed] > begin ? offsets[feed] : begin;
      int z = least(offsets[feed + 1], end);
      lists[c.feeds] = feed;
      lists[feeds + c.feeds] = a - begin;
      lists[2 * feeds + c.feeds] = z - a;
      lists[3 * feeds + c.feeds] = step.from[feed] + a - offsets[feed];
      c.feeds++;
      if (offsets[feed + 1] > end) break;
    }
    layers(m, team, c, step.pages, b);
    for (int i = first; i < first + c.feeds; i++)
      if (offsets[i + 1] <= end)
        memcpy(last + (ptrdiff_t)(i - part.first) * d, b.x + (ptrdiff_t)(offsets[i + 1] - 1 - begin) * d,
               sizeof(float) * d);
  }
}

// Logits and choices of a part's feeds; the first bad one, or -1.
int choose(const Decoder& m, const Team& team, const Step& step, const Part& part, int held,
           const float* last, float* logits, float* room) {
  for (int from = part.first; from < part.last; from += held) {
    int rows = least(held, part.last - from);
    const float* states = last + (ptrdiff_t)(from - part.first) * m.hidden;
    linear_all(team, m.head, linear_input(team, m.head, states, rows, room), false, logits, m.vocab);
    int32_t bad = part.last;
    team.each(rows, [&](int i, int thread) {
      if (sample_row(thread, logits + (ptrdiff_t)i * m.vocab, m.vocab, step.sampling, from + i)) return;
      int32_t known = __atomic_load_n(&bad, __ATOMIC_RELAXED);
      while (from + i < known &&
             !__atomic_compare_exchange_n(&bad, &known, from + i, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED)) {
      }
    });
    if (bad < part.last) return bad;
  }
  return -1;
}

// Everything for a part; the first bad feed, or -1.
int run(const Decoder& m, const Team& team, const Step& step, const Part& part) {
  const int d = m.hidden, feeds = part.last - part.first;
  const Sizes sizes(m, step.offsets[part.last] - step.offsets[part.first], feeds);
  float* free = part.work;
  auto take = [&](size_t count) {
    float* taken = free;
    free += count;
    return taken;
  };
  Buffers b;
  b.room = take(sizes.room);
  b.x = take((size_t)sizes.chunk * d), b.h = take((size_t)sizes.chunk * d);
  b.qkv = take((size_t)sizes.chunk * m.qkv_width());
  b.mixed = take((size_t)sizes.chunk * m.heads * m.head_dim);
  b.gate = take((size_t)sizes.chunk * m.ff), b.up = take((size_t)sizes.chunk * m.ff);
  float* last = take((size_t)feeds * d);
  float* normed = take((size_t)feeds * d);
  float* logits = take((size_t)sizes.held * m.vocab);
  int32_t* lists = (int32_t*)take((size_t)4 * feeds);
  read(m, team, step, part, sizes, b, lists, last);
  norm_rows(m, team, last, m.final_norm, feeds, normed);
  return choose(m, team, step, part, sizes.held, normed, logits, b.room);
}

// Where a model fits into a core's cache, each thread takes some feeds through all of it: nothing
// is handed from core to core. Elsewhere threads share the weights of each product.
int parts_of(const Decoder& m, const int32_t* offsets, int feeds, Part* parts) {
  const int tokens = offsets[feeds];
  int count = m.weight_bytes <= NEAR_BYTES ? tokens / LEAST_TOKENS : 1;
  count = least(least(count, arpo_pool_threads()), feeds);
  if (count < 1) count = 1;
  int feed = 0;
  for (int i = 0; i < count; i++) {
    parts[i].first = feed;
    // Up to its share of the tokens, by whole tiles of rows where feeds are single tokens.
    const int goal = i + 1 == count ? tokens : ceil_div(tokens * (i + 1) / count, 16) * 16;
    while (feed < feeds && (feed == parts[i].first || offsets[feed + 1] <= goal)) feed++;
    if (i + 1 == count) feed = feeds;
    parts[i].last = feed;
    if (feed == feeds) return i + 1;
  }
  return count;
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

Place place_of(Decoder& m, int layer, int matrix) {
  return matrix < 5 ? places_of(m, m.layer[layer]).list[matrix] : Place{&m.head, m.vocab, m.hidden};
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
  m->format = (Format)shape[7], m->half_cache = shape[8] != 0;
  m->gelu = shape[9] != 0;
  const size_t attended = (size_t)m->heads * m->head_dim;
  const size_t in_layer = m->qkv_width() + attended + (size_t)3 * m->ff;
  const size_t weights = (in_layer * m->layers + m->vocab) * m->hidden;
  m->weight_bytes = m->format == Format::exact ? weights * (linear_splits() ? 3 : 4)
                    : m->format == Format::q4 || m->format == Format::dot4 ? weights / 8 * 5
                    : weights * (m->format == Format::bf16 || m->format == Format::w16a16 ? 2 : 1);
  m->layer = (Layer*)arpo_alloc(sizeof(Layer) * (m->layers + 1));
  memset(m->layer, 0, sizeof(Layer) * (m->layers + 1));
  const size_t in_page = (size_t)m->layers * m->kv_heads * head_numbers(m->head_dim);
  m->page_floats = m->half_cache ? in_page / 2 : in_page;
  size_t fit = m->page_floats ? SLAB_BYTES / (m->page_floats * sizeof(float)) : 1;
  m->pages_per_slab = fit < 1 ? 1 : (int)fit;
  return (double)(uintptr_t)m;
}

void decoder_destroy(double address) {
  Decoder* m = at(address);
  for (int i = 0; i < m->layers; i++) {
    Layer& layer = m->layer[i];
    float* owned[] = {layer.input_norm, layer.post_norm, layer.qkv_bias, layer.query_norm,
                      layer.key_norm, layer.output_bias, layer.gate_bias, layer.up_bias, layer.down_bias,
                      layer.attended_norm, layer.found_norm};
    for (float* memory : owned) arpo_free(memory);
    if (!m->matrices)
      for (const Place& place : places_of(*m, layer).list) linear_free(*place.linear);
  }
  for (int i = 0; i < m->slab_count; i++) arpo_free(m->slabs[i]);
  arpo_free(m->layer);
  arpo_free(m->matrices);
  arpo_free(m->final_norm);
  linear_free(m->head);
  for (int i = 0; i < TABLES; i++) arpo_free(m->cos[i]), arpo_free(m->sin[i]);
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

void decoder_load_kind(double address, int index, const float* output_bias, const float* gate_bias,
                       const float* up_bias, const float* down_bias, const float* attended_norm,
                       const float* found_norm, int window, int table) {
  Decoder* m = at(address);
  Layer& layer = m->layer[index];
  keep(&layer.output_bias, output_bias, m->hidden);
  keep(&layer.gate_bias, gate_bias, m->ff);
  keep(&layer.up_bias, up_bias, m->ff);
  keep(&layer.down_bias, down_bias, m->hidden);
  keep(&layer.attended_norm, attended_norm, m->hidden);
  keep(&layer.found_norm, found_norm, m->hidden);
  layer.window = window, layer.table = table;
}

void decoder_load_ends(double address, const float* final_norm, const float* head) {
  Decoder* m = at(address);
  keep(&m->final_norm, final_norm, m->hidden);
  if (m->format == Format::exact) linear_load(m->head, head, m->vocab, m->hidden);
}

int decoder_load_rows(double address, int index, int matrix, int first, int rows, const float* whole,
                      const uint16_t* half) {
  Decoder* m = at(address);
  const Place place = place_of(*m, index, matrix);
  // As files have it: the output matrix is the most sensitive one.
  const bool head = matrix == 5;
  const Format format = head && m->format == Format::dot4 ? Format::dot8
                        : head && m->format == Format::q4 ? Format::q8
                                                          : m->format;
  return linear_load_narrow(*place.linear, format, {whole, half, nullptr, 0}, place.out, place.in, first,
                            rows);
}

int decoder_load_blocks(double address, int index, int matrix, int first, int rows, const uint8_t* blocks,
                        int block_bytes) {
  Decoder* m = at(address);
  const Place place = place_of(*m, index, matrix);
  const bool eights = block_bytes == 34;
  const Format format = is_dots(m->format) ? (eights ? Format::dot8 : Format::dot4) : eights ? Format::q8 : Format::q4;
  return linear_load_narrow(*place.linear, format, {nullptr, nullptr, blocks, block_bytes}, place.out,
                            place.in, first, rows);
}

void decoder_load_rope(double address, int table, const float* cos, const float* sin, int positions) {
  Decoder* m = at(address);
  arpo_free(m->cos[table]);
  arpo_free(m->sin[table]);
  m->cos[table] = m->sin[table] = nullptr;
  keep(&m->cos[table], cos, (size_t)positions * (m->head_dim / 2));
  keep(&m->sin[table], sin, (size_t)positions * (m->head_dim / 2));
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
                 const uint32_t* allowed, const int32_t* allowed_at, const int32_t* constrained,
                 const int32_t* seen, const int32_t* seen_offsets, int top,
                 int32_t* tokens, float* logprobs, float* entropies, int32_t* top_ids,
                 float* top_logprobs, uint32_t* kept, float* kept_logprobs) {
  Decoder& m = *at(address);
  int most = 0;
  for (int i = 0; i < page_offsets[feeds]; i++)
    if (page_list[i] >= most) most = page_list[i] + 1;
  need_pages(m, most);
  for (int i = 0; i < copy_count; i++)
    memcpy(page_of(m, copies[2 * i + 1]), page_of(m, copies[2 * i]), sizeof(float) * m.page_floats);

  Part parts[ARPO_MAX_THREADS];
  const int count = parts_of(m, offsets, feeds, parts);
  size_t wanted = 0, starts[ARPO_MAX_THREADS];
  for (int i = 0; i < count; i++) {
    const Part& part = parts[i];
    starts[i] = wanted;
    // Apart by a page, so that no part's memory is in another's way.
    wanted += Sizes(m, offsets[part.last] - offsets[part.first], part.last - part.first).floats + 1024;
    wanted = (wanted + 15) / 16 * 16;
  }
  if (m.work_floats < wanted) {
    arpo_free(m.work);
    m.work = floats(wanted);
    m.work_floats = wanted;
  }
  const Step step = {embedded, offsets, from, {page_list, page_offsets},
                     {temperature, top_k, top_p, min_p, penalty, uniform, allowed, allowed_at,
                      constrained, seen, seen_offsets, top, tokens, logprobs, entropies, top_ids, top_logprobs, kept,
                      kept_logprobs}};
  int bad[ARPO_MAX_THREADS];
  for (int i = 0; i < count; i++) parts[i].work = m.work + starts[i];
  if (count == 1) return run(m, Team{}, step, parts[0]);
  parallel(count, [&](int i, int thread) { bad[i] = run(m, Team{thread}, step, parts[i]); });
  for (int i = 0; i < count; i++)
    if (bad[i] >= 0) return bad[i];
  return -1;
}

}  // namespace ARPO_NS
