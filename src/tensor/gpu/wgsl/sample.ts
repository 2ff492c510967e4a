import type { Program } from "../programs.js";
import { declare } from "./shader.js";

/**
 * Numbers a row's sampling takes: temperature, topP, minP, penalty, draw, topK, where its seen ids and its mask of
 * allowed ids are (-1: nowhere), and 1 where the mask is a constraint.
 */
export const SETTINGS = 9;
/** Words of a row's answer before its alternatives: token, log-probability, entropy, whether it is finite, ln of the support. */
export const ANSWER = 5;
/** Words of a row's answer: behind its alternatives comes its support, a bit per id. */
export const answerWords = (top: number, support: number): number => ANSWER + 2 * top + support;

/**
 * Chooses a token for each row of logits, a workgroup for each: what src/model/decoder/sample.ts says.
 * Thresholds are found by halving: the weight at which enough words or enough mass are kept, bit by bit,
 * then, among words of just that weight, the last id.
 */
export const sampleRows: Program = {
  key: "sample",
  code: () => `${declare({
    reads: ["logits", "settings", "allowed:u32", "seen:u32"],
    writes: ["answer:u32"],
    whole: ["rows", "vocabulary", "top", "words", "support"],
  })}
var<workgroup> redA: array<f32, 256>;
var<workgroup> redB: array<f32, 256>;
var<workgroup> redI: array<u32, 256>;
var<private> lid: u32;
var<private> base: u32;
var<private> scale: f32;
var<private> penalty: f32;
var<private> seenAt: i32;
var<private> allowedAt: i32;
const least = -3e38;

fn added(a: f32) -> f32 {
  redA[lid] = a;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if (lid < half) { redA[lid] += redA[lid + half]; }
    workgroupBarrier();
  }
  let sum = redA[0];
  workgroupBarrier();
  return sum;
}
fn counted(a: u32) -> u32 {
  redI[lid] = a;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if (lid < half) { redI[lid] += redI[lid + half]; }
    workgroupBarrier();
  }
  let sum = redI[0];
  workgroupBarrier();
  return sum;
}
/** The largest value and the lowest id that has it, in redA[0] and redI[0]. */
fn best(value: f32, id: u32) {
  redA[lid] = value; redI[lid] = id;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if (lid < half) {
      let x = redA[lid + half]; let other = redI[lid + half];
      if (x > redA[lid] || (x == redA[lid] && other < redI[lid])) { redA[lid] = x; redI[lid] = other; }
    }
    workgroupBarrier();
  }
}
fn scaled(id: u32) -> f32 { return logits[base + id] / scale; }
fn candidate(id: u32) -> f32 {
  var y = scaled(id);
  if (seenAt >= 0 && ((seen[u32(seenAt) + id / 32u] >> (id % 32u)) & 1u) == 1u) {
    y = select(y * penalty, y / penalty, y > 0.0);
  }
  if (allowedAt >= 0 && ((allowed[u32(allowedAt) + id / 32u] >> (id % 32u)) & 1u) == 0u) { y = least; }
  return y;
}

var<private> peak: f32;
var<private> edge: f32;
var<private> last: u32;
/** A word's weight, 0 where it is not kept. */
fn weight(id: u32) -> f32 {
  let y = candidate(id);
  if (y <= least) { return 0.0; }
  let w = exp(y - peak);
  return select(0.0, w, w > edge || (w == edge && id <= last));
}
/** Among words of weight \`edge\`, the id up to which \`count\` of them are kept. */
fn cut(count: u32) {
  var low = 0u; var high = p.vocabulary - 1u;
  for (var step = 0u; step < 20u; step++) {
    let middle = (low + high) / 2u;
    var own = 0u;
    for (var id = lid; id <= middle; id += 256u) {
      let y = candidate(id);
      if (y > least && exp(y - peak) == edge && id <= last) { own++; }
    }
    let enough = counted(own) >= count;
    if (low < high) { if (enough) { high = middle; } else { low = middle + 1u; } }
  }
  last = low;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = wg.x;
  lid = thread; base = row * p.vocabulary;
  let at = row * ${SETTINGS}u;
  let temperature = settings[at]; let topP = settings[at + 1u]; let minP = settings[at + 2u];
  penalty = settings[at + 3u];
  let uniform01 = settings[at + 4u]; let topK = u32(settings[at + 5u]);
  seenAt = i32(settings[at + 6u]);
  if (seenAt >= 0) { seenAt *= i32(p.words); }
  allowedAt = i32(settings[at + 7u]);
  if (allowedAt >= 0) { allowedAt *= i32(p.words); }
  let constrained = settings[at + 8u] > 0.0;
  scale = select(1.0, temperature, temperature > 0.0);
  let to = row * (${ANSWER}u + 2u * p.top + p.support);

  // The whole distribution: what is reported.
  var broken = 0u; var most = least;
  for (var id = lid; id < p.vocabulary; id += 256u) {
    if ((bitcast<u32>(logits[base + id]) & 0x7f800000u) == 0x7f800000u) { broken++; }
    most = max(most, scaled(id));
  }
  let bad = counted(broken);
  best(most, 0u);
  most = redA[0];
  workgroupBarrier();
  var ownSum = 0.0; var ownMean = 0.0;
  for (var id = lid; id < p.vocabulary; id += 256u) {
    let d = scaled(id) - most; let e = exp(d);
    ownSum += e; ownMean = fma(e, d, ownMean);
  }
  let sum = added(ownSum); let mean = added(ownMean);
  let normaliser = most + log(sum);

  var lastValue = 3e38; var lastId = 0u;
  for (var n = 0u; n < p.top; n++) {
    var value = least; var found = 0xffffffffu;
    for (var id = lid; id < p.vocabulary; id += 256u) {
      let y = scaled(id);
      let next = y < lastValue || (y == lastValue && id > lastId);
      if (next && y > value) { value = y; found = id; }
    }
    best(value, found);
    lastValue = redA[0]; lastId = redI[0];
    workgroupBarrier();
    if (lid == 0u) {
      answer[to + ${ANSWER}u + n] = lastId;
      answer[to + ${ANSWER}u + p.top + n] = bitcast<u32>(lastValue - normaliser);
    }
  }

  // The choice.
  var value = least; var found = 0u;
  for (var id = lid; id < p.vocabulary; id += 256u) {
    let y = candidate(id);
    if (y > value) { value = y; found = id; }
  }
  if (value <= least) { found = 0xffffffffu; }
  best(value, found);
  peak = redA[0]; var token = redI[0];
  workgroupBarrier();
  edge = 0.0; last = p.vocabulary;
  if (temperature > 0.0) {
    if (topK > 0u && topK < p.vocabulary) {
      var bits = 0u;
      for (var bit = 30u; bit < 31u; bit--) {
        let tried = bitcast<f32>(bits | (1u << bit));
        var own = 0u;
        for (var id = lid; id < p.vocabulary; id += 256u) { if (weight(id) >= tried) { own++; } }
        if (counted(own) >= topK) { bits |= 1u << bit; }
      }
      // Words as likely as the k-th all stay.
      edge = bitcast<f32>(bits);
    }
    if (topP < 1.0) {
      var own = 0.0;
      for (var id = lid; id < p.vocabulary; id += 256u) { own += weight(id); }
      let limit = topP * added(own);
      var bits = 0u;
      for (var bit = 30u; bit < 31u; bit--) {
        let tried = bitcast<f32>(bits | (1u << bit));
        own = 0.0;
        for (var id = lid; id < p.vocabulary; id += 256u) { let w = weight(id); own += select(0.0, w, w >= tried); }
        if (added(own) >= limit && tried <= 1.0) { bits |= 1u << bit; }
      }
      let threshold = bitcast<f32>(bits);
      own = 0.0;
      for (var id = lid; id < p.vocabulary; id += 256u) { let w = weight(id); own += select(0.0, w, w > threshold); }
      let above = added(own);
      let missing = select(1.0, ceil((limit - above) / threshold), threshold > 0.0);
      if (threshold > edge) { last = p.vocabulary; }
      edge = threshold;
      cut(u32(clamp(missing, 1.0, 1e9)));
    }
    // Each thread adds up a stretch of ids; the stretch that the draw falls into is looked through.
    let stretch = (p.vocabulary + 255u) / 256u;
    let begin = lid * stretch; let until = min(begin + stretch, p.vocabulary);
    var own = 0.0; var tail = 0xffffffffu;
    for (var id = begin; id < until; id++) {
      let w = weight(id);
      if (w >= minP && w > 0.0) { own += w; tail = id; }
    }
    redB[lid] = own; redI[lid] = tail;
    workgroupBarrier();
    if (lid == 0u) {
      var total = 0.0;
      for (var i = 0u; i < 256u; i++) { total += redB[i]; }
      let target_ = uniform01 * total;
      var reached = 0.0; var place = 256u; var spare = 256u;
      for (var i = 0u; i < 256u; i++) {
        if (place == 256u && redB[i] > 0.0) {
          spare = i;
          if (reached + redB[i] > target_) { place = i; } else { reached += redB[i]; }
        }
      }
      if (place == 256u) { if (spare < 256u) { token = redI[spare]; } }
      else {
        let end = min((place + 1u) * stretch, p.vocabulary);
        token = redI[place];
        for (var id = place * stretch; id < end; id++) {
          let w = weight(id);
          if (w < minP || w <= 0.0) { continue; }
          reached += w;
          if (reached > target_) { token = id; break; }
        }
      }
    }
  }
  // What was kept: each thread its own words of ids.
  let cuts = temperature > 0.0 && ((topK > 0u && topK < p.vocabulary) || topP < 1.0 || minP > 0.0 || constrained);
  var ownKept = 0.0;
  for (var n = lid; n < p.support; n += 256u) {
    var bits = 0u;
    for (var i = 0u; i < 32u; i++) {
      let id = n * 32u + i;
      if (!cuts || id >= p.vocabulary) { continue; }
      let w = weight(id);
      if (w < minP || w <= 0.0) { continue; }
      bits |= 1u << i;
      ownKept += exp(scaled(id) - most);
    }
    answer[to + ${ANSWER}u + 2u * p.top + n] = bits;
  }
  let kept = added(ownKept);
  if (lid == 0u) {
    answer[to + 4u] = bitcast<u32>(select(0.0, log(kept / sum), kept > 0.0));
    answer[to] = token;
    answer[to + 1u] = bitcast<u32>(scaled(min(token, p.vocabulary - 1u)) - normaliser);
    answer[to + 2u] = bitcast<u32>(log(sum) - mean / sum);
    answer[to + 3u] = bad;
  }
}`,
};
