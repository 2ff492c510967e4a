import type { Program } from "../programs.js";
import { accumulators, eachResult, TILE, threads, tileMemory, tileProduct } from "./matmul.js";
import { declare, entry, times } from "./shader.js";

const logits = tileProduct(
  { name: "hidden", transposed: false },
  { name: "head", transposed: true },
  {
    ...{ m: "p.rows", n: "p.until", k: "p.width", aStride: "p.width", bStride: "p.width" },
    ...{ aOffset: "0u", bOffset: "0u" },
  },
);

/**
 * Log-probabilities without logits in memory: a workgroup takes 64 rows and one share of the
 * vocabulary, 64 words at a time, and keeps for each row the largest logit, the sum of exponentials,
 * their mean of logits, and the label's logit if it came by.
 */
export const logProbParts: Program = {
  key: "log prob parts",
  code: () => `${declare({
    reads: ["hidden", "head", "labels:i32"],
    writes: ["parts"],
    whole: ["rows", "width", "vocabulary", "share"],
    fractions: ["alpha"],
  })}
${tileMemory}
var<workgroup> red: array<f32, ${TILE * 16}>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
${threads}
  let m0 = wg.x * ${TILE}u; let split = wg.y;
${times(4, (i) => `  var most${i} = -1e30; var sum${i} = 0.0; var mean${i} = 0.0; var chosen${i} = 0.0;`)}
${times(4, (i) => `  var label${i} = -1; if (m0 + ty * 4u + ${i}u < p.rows) { label${i} = labels[m0 + ty * 4u + ${i}u]; }`)}
  let until = min((split + 1u) * p.share, p.vocabulary);
  for (var n0 = split * p.share; n0 < until; n0 += ${TILE}u) {
${accumulators}
${logits.replaceAll("p.until", "until")}
${times(
  4,
  (i) => `    { var most = most${i};
${times(4, (j) => `      c${i}${j} = select(-1e30, c${i}${j} * p.alpha, n0 + tx + ${16 * j}u < until); most = max(most, c${i}${j});`)}
      let shrink = exp(most${i} - most);
      mean${i} = (mean${i} + sum${i} * (most${i} - most)) * shrink; sum${i} *= shrink; most${i} = most;
${times(
  4,
  (
    j,
  ) => `      if (c${i}${j} > -1e29) { let w = exp(c${i}${j} - most); sum${i} += w; mean${i} = fma(w, c${i}${j} - most, mean${i}); }
      if (i32(n0 + tx + ${16 * j}u) == label${i}) { chosen${i} = c${i}${j}; }`,
)}
    }`,
)}
  }
${times(4, (i) => `  red[(ty * 4u + ${i}u) * 16u + tx] = most${i};`)}
  workgroupBarrier();
${times(
  4,
  (i) => `  { var most = -1e30;
    for (var x = 0u; x < 16u; x++) { most = max(most, red[(ty * 4u + ${i}u) * 16u + x]); }
    let shrink = exp(most${i} - most);
    mean${i} = (mean${i} + sum${i} * (most${i} - most)) * shrink; sum${i} *= shrink; most${i} = most; }`,
)}
${["sum", "mean", "chosen"]
  .map(
    (name) => `  workgroupBarrier();
${times(4, (i) => `  red[(ty * 4u + ${i}u) * 16u + tx] = ${name}${i};`)}
  workgroupBarrier();
${times(4, (i) => `  ${name}${i} = 0.0; for (var x = 0u; x < 16u; x++) { ${name}${i} += red[(ty * 4u + ${i}u) * 16u + x]; }`)}`,
  )
  .join("\n")}
${times(
  4,
  (i) => `  if (tx == 0u && m0 + ty * 4u + ${i}u < p.rows) {
    let at = (split * p.rows + m0 + ty * 4u + ${i}u) * 4u;
    parts[at] = most${i}; parts[at + 1u] = sum${i}; parts[at + 2u] = mean${i}; parts[at + 3u] = chosen${i};
  }`,
)}
}`,
};

/** The shares of the vocabulary put together. */
export const logProb: Program = {
  key: "log prob",
  code: () => `${declare({ reads: ["parts"], writes: ["logprobs", "entropies", "normaliser"], whole: ["rows", "splits"] })}
${entry(
  64,
  `  let row = group * 64u + lid;
  if (row >= p.rows) { return; }
  var most = -1e30;
  for (var s = 0u; s < p.splits; s++) { most = max(most, parts[(s * p.rows + row) * 4u]); }
  var sum = 0.0; var mean = 0.0; var chosen = 0.0;
  for (var s = 0u; s < p.splits; s++) {
    let at = (s * p.rows + row) * 4u;
    let shrink = exp(parts[at] - most);
    mean += (parts[at + 2u] + parts[at + 1u] * (parts[at] - most)) * shrink;
    sum += parts[at + 1u] * shrink;
    chosen += parts[at + 3u];
  }
  normaliser[row] = most + log(sum);
  logprobs[row] = chosen - most - log(sum);
  entropies[row] = log(sum) - mean / sum;`,
)}`,
};

/** The gradients of some words' logits, [rows, words], from those of log-probabilities and entropies. */
export const logitGrad: Program = {
  key: "logit grad",
  code: () => `${declare({
    reads: ["hidden", "head", "labels:i32", "normaliser", "entropies", "dlogprobs", "dentropies"],
    writes: ["out"],
    whole: ["rows", "width", "first", "words"],
    fractions: ["alpha"],
  })}
${tileMemory}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
${threads}
  let m0 = wg.y * ${TILE}u; let begin = wg.x * ${TILE}u; let n0 = p.first + begin;
${accumulators}
${logits.replaceAll("p.until", "(p.first + p.words)")}
${eachResult(
  "p.rows",
  "(p.first + p.words)",
  (row, column, value) => `let w = exp(${value} * p.alpha - normaliser[${row}]);
      let told = dlogprobs[${row}] * (select(0.0, 1.0, i32(${column}) == labels[${row}]) - w);
      let spread = dentropies[${row}] * w * (${value} * p.alpha - normaliser[${row}] + entropies[${row}]);
      out[${row} * p.words + ${column} - p.first] = (told - spread) * p.alpha;`,
)}
}`,
};

/**
 * The k largest of each row in falling order, the lower id first among equals, a workgroup for each row.
 * `listed`: candidates carry their ids; else a value's place is its id.
 */
export function largest(listed: boolean): Program {
  const id = (at: string) =>
    listed ? `candidates[row * p.width + ${at}]` : `i32(p.first + ${at})`;
  return {
    key: listed ? "largest listed" : "largest",
    code: () => `${declare({
      reads: ["values", ...(listed ? ["candidates:i32", "normaliser"] : [])],
      writes: ["best", "ids:i32"],
      whole: ["rows", "width", "k", "first", "stride", "at"],
    })}
var<workgroup> redValue: array<f32, 256>;
var<workgroup> redId: array<i32, 256>;
${entry(
  256,
  `  let row = group;
  if (row >= p.rows) { return; }
  var lastValue = 3e38; var lastId = -1;
  for (var n = 0u; n < p.k; n++) {
    var value = -3e38; var id = 2147483647;
    for (var i = lid; i < p.width; i += 256u) {
      let x = values[row * p.width + i]; let own = ${id("i")};
      let next = x < lastValue || (x == lastValue && own > lastId);
      if (next && (x > value || (x == value && own < id))) { value = x; id = own; }
    }
    redValue[lid] = value; redId[lid] = id;
    workgroupBarrier();
    for (var half = 128u; half > 0u; half /= 2u) {
      if (lid < half) {
        let x = redValue[lid + half]; let own = redId[lid + half];
        if (x > redValue[lid] || (x == redValue[lid] && own < redId[lid])) { redValue[lid] = x; redId[lid] = own; }
      }
      workgroupBarrier();
    }
    lastValue = redValue[0]; lastId = redId[0];
    workgroupBarrier();
    if (lid == 0u) {
      best[row * p.stride + p.at + n] = lastValue${listed ? " - normaliser[row]" : ""};
      ids[row * p.stride + p.at + n] = lastId;
    }
  }`,
)}`,
  };
}
