import type { Program } from "../programs.js";
import { matmulWhole } from "./matmul.js";
import { declare, times } from "./shader.js";
import { readStored, storedAs, type StoredType } from "./stored.js";

/** Columns one workgroup of the kernel for few rows makes, and how far it looks at once. */
const COLUMNS = 32;
const ROWS = 8;
const DEPTH = 32;

/** Rows up to which `fewRows` is worth it. */
export const FEW = 16;
export const fewGroups = (rows: number, columns: number): [number, number] => [
  Math.ceil(columns / COLUMNS),
  Math.ceil(rows / ROWS),
];

/**
 * C = A B^T (+ bias) (+ C) for few rows, where time goes into reading B once: a thread for each result,
 * 8 rows by 32 columns a workgroup. It adds up in the order of `matmul`, so that a row's numbers do not
 * depend on how many rows there are. Takes the numbers of `matmul`.
 */
export function fewRows(biased: boolean, accumulate: boolean, stored: StoredType): Program {
  const scaled = stored === "int8";
  return {
    key: `few rows${biased ? " bias" : ""}${accumulate ? " add" : ""} ${stored}`,
    code: () => `${declare({
      reads: [
        ...["A0", storedAs("B0", stored)],
        ...[...(scaled ? ["SCALES"] : []), ...(biased ? ["BIAS"] : [])],
      ],
      writes: ["C0"],
      whole: matmulWhole,
      fractions: ["alpha"],
    })}
var<workgroup> sa: array<f32, ${ROWS * (DEPTH + 1)}>;
var<workgroup> sb: array<f32, ${COLUMNS * (DEPTH + 1)}>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let m0 = wg.y * ${ROWS}u; let n0 = wg.x * ${COLUMNS}u;
  let kk = lid % ${DEPTH}u; let r = lid / ${DEPTH}u;
  let own = lid / ${COLUMNS}u; let column = lid % ${COLUMNS}u;
  var c = 0.0;
  for (var k0 = 0u; k0 < p.k; k0 += ${DEPTH}u) {
    let inside = k0 + kk < p.k;
    var x = 0.0;
    if (inside && m0 + r < p.m) { x = A0[p.aOffset + (m0 + r) * p.aStride + k0 + kk]; }
    sa[r * ${DEPTH + 1}u + kk] = x;
    for (var e = 0u; e < ${COLUMNS / ROWS}u; e++) {
      let n = n0 + r + ${ROWS}u * e;
      var w = 0.0;
      if (inside && n < p.n) { let at = p.bOffset + n * p.bStride + k0 + kk; w = ${readStored("B0", stored, "at")}; }
      sb[(r + ${ROWS}u * e) * ${DEPTH + 1}u + kk] = w;
    }
    workgroupBarrier();
    for (var i = 0u; i < ${DEPTH}u; i++) {
      c = fma(sa[own * ${DEPTH + 1}u + i], sb[column * ${DEPTH + 1}u + i], c);
    }
    workgroupBarrier();
  }
  if (m0 + own < p.m && n0 + column < p.n) {
    let at = p.cOffset + (m0 + own) * p.cStride + n0 + column;
    C0[at] ${accumulate ? "+=" : "="} p.alpha * c${scaled ? " * SCALES[n0 + column]" : ""}${biased ? " + BIAS[n0 + column]" : ""};
  }
}`,
  };
}

/** Two numbers for each token of a step: where its row's pages are listed, and its position. */
const fed = "fed:i32";

/**
 * A workgroup for each token: norms its queries and keys where the model does, turns them, and writes key
 * and value to the token's page. The workgroups behind those of tokens copy half-full pages that a fork
 * is about to write to.
 */
export function store(normed: boolean): Program {
  const scale = normed
    ? `    var squares = 0.0;
    for (var d = 0u; d < p.dim; d++) { let x = qkv[start + d]; squares = fma(x, x, squares); }
    let scale = 1.0 / sqrt(squares / f32(p.dim) + p.epsilon);`
    : "";
  const value = (at: string) =>
    normed
      ? `qkv[start + ${at}] * scale * select(kNorm[${at}], qNorm[${at}], head < p.heads)`
      : `qkv[start + ${at}]`;
  return {
    key: `store${normed ? " norm" : ""}`,
    code: () => `${declare({
      reads: ["cos", "sin", fed, "pages:i32", "copies:i32", ...(normed ? ["qNorm", "kNorm"] : [])],
      writes: ["qkv", "cache"],
      whole: ["tokens", "heads", "kvHeads", "dim", "page", "first", "many"],
      fractions: ["epsilon"],
    })}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) all: vec3u,
        @builtin(local_invocation_index) lid: u32) {
  let width = p.kvHeads * p.dim;
  let token = wg.x + wg.y * all.x;
  if (token >= p.tokens) {
    let copy = (token - p.tokens) * 3u;
    if (token - p.tokens >= p.many) { return; }
    // Only the slots that are taken: the others may be written at the same time.
    let taken = u32(copies[copy + 2u]) * width;
    let source = u32(copies[copy]) * 2u * p.page * width; let target_ = u32(copies[copy + 1u]) * 2u * p.page * width;
    for (var i = lid; i < taken; i += 64u) {
      cache[target_ + i] = cache[source + i];
      cache[target_ + p.page * width + i] = cache[source + p.page * width + i];
    }
    return;
  }
  let line = u32(fed[(p.first + token) * 2u]); let position = u32(fed[(p.first + token) * 2u + 1u]);
  let page = u32(pages[line + position / p.page]);
  let slot = (page * 2u * p.page + position % p.page) * width;
  let row = token * (p.heads + 2u * p.kvHeads) * p.dim;
  let half = p.dim / 2u;
  for (var head = lid; head < p.heads + p.kvHeads; head += 64u) {
    let start = row + head * p.dim;
${scale}
    for (var i = 0u; i < half; i++) {
      let x = ${value("i")}; let y = ${value("half + i")};
      let c = cos[position * half + i]; let s = sin[position * half + i];
      let u = x * c - y * s; let v = y * c + x * s;
      if (head < p.heads) { qkv[start + i] = u; qkv[start + half + i] = v; }
      else {
        let to = slot + (head - p.heads) * p.dim;
        cache[to + i] = u; cache[to + half + i] = v;
      }
    }
  }
  for (var i = lid; i < width; i += 64u) {
    cache[slot + p.page * width + i] = qkv[row + (p.heads + p.kvHeads) * p.dim + i];
  }
}`,
  };
}

/**
 * Attention of one token and head over its row's pages, a workgroup for each: 64 keys at a time, with
 * a running maximum and sum. A token sees what is before it alone, so a row's numbers do not depend on
 * what else is in the step.
 */
export function attendPages(dim: number): Program {
  const parts = Math.ceil(dim / 64);
  return {
    key: `attend pages ${parts}`,
    code: () => `${declare({
      reads: ["qkv", "cache", fed, "pages:i32"],
      writes: ["out"],
      whole: ["tokens", "heads", "kvHeads", "dim", "page", "first"],
      fractions: ["scale"],
    })}
var<workgroup> query: array<f32, ${parts * 64}>;
var<workgroup> weights: array<f32, 64>;
var<workgroup> places: array<u32, 64>;
var<workgroup> red: array<f32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let token = wg.x; let head = wg.y;
  let kv = head / (p.heads / p.kvHeads);
  let width = p.kvHeads * p.dim;
  let line = u32(fed[(p.first + token) * 2u]); let position = u32(fed[(p.first + token) * 2u + 1u]);
${times(parts, (c) => `  if (${64 * c}u + lid < p.dim) { query[${64 * c}u + lid] = qkv[(token * (p.heads + 2u * p.kvHeads) + head) * p.dim + ${64 * c}u + lid]; }`)}
${times(parts, (c) => `  var o${c} = 0.0;`)}
  var most = -1e30; var sum = 0.0;
  for (var k0 = 0u; k0 <= position; k0 += 64u) {
    workgroupBarrier();
    var score = -1e30;
    if (k0 + lid <= position) {
      let at = k0 + lid;
      let place = (u32(pages[line + at / p.page]) * 2u * p.page + at % p.page) * width + kv * p.dim;
      places[lid] = place + p.page * width;
      score = 0.0;
      for (var d = 0u; d < p.dim; d++) { score = fma(query[d], cache[place + d], score); }
      score *= p.scale;
    }
    red[lid] = score;
    workgroupBarrier();
    var next = most;
    for (var i = 0u; i < 64u; i++) { next = max(next, red[i]); }
    let shrink = exp(most - next); most = next;
    weights[lid] = select(0.0, exp(score - most), k0 + lid <= position);
    workgroupBarrier();
    sum *= shrink;
    let seen = min(64u, position + 1u - k0);
    for (var i = 0u; i < seen; i++) { sum += weights[i]; }
${times(
  parts,
  (c) => `    o${c} *= shrink;
    if (${64 * c}u + lid < p.dim) { for (var i = 0u; i < seen; i++) { o${c} = fma(weights[i], cache[places[i] + ${64 * c}u + lid], o${c}); } }`,
)}
  }
${times(parts, (c) => `  if (${64 * c}u + lid < p.dim) { out[(token * p.heads + head) * p.dim + ${64 * c}u + lid] = o${c} / sum; }`)}
}`,
  };
}

/** silu(gate) * up of rows that hold both, gates first. */
export const gated: Program = {
  key: "gated",
  code: () => `${declare({ reads: ["both"], writes: ["out"], whole: ["count", "width"] })}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = (wg.x + wg.y * all.x) * 256u + lid;
  if (i >= p.count) { return; }
  let at = i / p.width * 2u * p.width + i % p.width;
  let g = both[at];
  out[i] = g / (1.0 + exp(-g)) * both[at + p.width];
}`,
};
