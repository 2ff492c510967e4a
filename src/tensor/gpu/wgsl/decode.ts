import type { Program } from "../programs.js";
import { LANES, matmulWhole } from "./matmul.js";
import { declare, times } from "./shader.js";
import { readEight, readStored, storedAs, storedByEight, type StoredType } from "./stored.js";

/** Columns one workgroup of the kernel for few rows makes, and the threads that share the depth of each. */
const COLUMNS = 8;
const THREADS = 256;

/** Rows of one workgroup of `fewRows`. */
export const rowsTogether = (rows: number): 1 | 2 | 4 | 8 =>
  rows > 4 ? 8 : rows > 2 ? 4 : rows > 1 ? 2 : 1;

/** Whether `fewRows` is worth it: up to 16 rows, and up to 64 where `matmul` has too few workgroups to fill a GPU. */
export const areFew = (rows: number, columns: number): boolean =>
  rows <= 16 || (rows <= 64 && columns <= 8192);

export const fewGroups = (rows: number, columns: number): [number, number] => [
  Math.ceil(columns / COLUMNS),
  Math.ceil(rows / rowsTogether(rows)),
];

interface FewRows {
  biased: boolean;
  accumulate: boolean;
  stored: StoredType;
  rows: 1 | 2 | 4 | 8;
  /** Whether rows of A and B begin at multiples of 8 numbers, and are multiples of 8 long. */
  aligned: boolean;
}

/**
 * C = A B^T (+ bias) (+ C) for few rows, where time goes into reading B once. 32 threads share the depth of a
 * column: each takes 8 numbers of every 256, and their sums are added in order. `matmul` with `byLanes` adds up in
 * the same order, so that a row's numbers do not depend on how many rows there are. Takes the numbers of `matmul`.
 */
export function fewRows({ biased, accumulate, stored, rows, aligned }: FewRows): Program {
  const scaled = stored === "int8";
  const b = aligned ? storedByEight("B0", stored) : storedAs("B0", stored);
  const all = (text: (r: number) => string) => times(rows, text);
  const eight = Array.from({ length: 8 }, (_, i) => i);
  const add = (r: number, a: (i: number) => string) =>
    eight.map((i) => `c${r} = fma(${a(i)}, b${i}, c${r});`).join(" ");
  const first = (r: number) => `p.aOffset + min(m0 + ${r}u, p.m - 1u) * p.aStride`;
  const lanes = (i: number) => `${i < 4 ? "low" : "high"}.${"xyzw"[i % 4]}`;
  const read = aligned
    ? `    ${readEight("B0", stored, "(p.bOffset + row * p.bStride) / 8u + at")}
${all((r) => `    { let start = (${first(r)}) / 4u + 2u * at; let low = A0[start]; let high = A0[start + 1u]; ${add(r, lanes)} }`)}`
    : // Past the end of the depth there is another row, so zeros stand in both.
      `    let some = min(8u, p.k - 8u * at);
    var values: array<f32, 8>;
    for (var i = 0u; i < some; i++) { let place = p.bOffset + row * p.bStride + 8u * at + i; values[i] = ${readStored("B0", stored, "place")}; }
    ${eight.map((i) => `let b${i} = values[${i}];`).join(" ")}
${all((r) => `    { var a: array<f32, 8>; for (var i = 0u; i < some; i++) { a[i] = A0[${first(r)} + 8u * at + i]; } ${add(r, (i) => `a[${i}]`)} }`)}`;
  return {
    key: `few rows ${rows}${biased ? " bias" : ""}${accumulate ? " add" : ""}${aligned ? "" : " ragged"} ${stored}`,
    code: () => `${declare({
      reads: [
        aligned ? "A0:vec4f" : "A0",
        b,
        ...(scaled ? ["SCALES"] : []),
        ...(biased ? ["BIAS"] : []),
      ],
      writes: ["C0"],
      whole: matmulWhole,
      fractions: ["alpha"],
    })}
var<workgroup> sums: array<f32, ${rows * COLUMNS * (LANES + 1)}>;
@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let m0 = wg.y * ${rows}u; let n0 = wg.x * ${COLUMNS}u;
  let lane = lid % ${LANES}u; let own = lid / ${LANES}u;
  let row = min(n0 + own, p.n - 1u);
${all((r) => `  var c${r} = 0.0;`)}
  for (var at = lane; 8u * at < p.k; at += ${LANES}u) {
${read}
  }
${all((r) => `  sums[(${r * COLUMNS}u + own) * ${LANES + 1}u + lane] = c${r};`)}
  workgroupBarrier();
  let m = m0 + lid / ${COLUMNS}u; let n = n0 + lid % ${COLUMNS}u;
  if (lid < ${rows * COLUMNS}u && m < p.m && n < p.n) {
    var sum = 0.0;
    for (var i = 0u; i < ${LANES}u; i++) { sum += sums[lid * ${LANES + 1}u + i]; }
    let at = p.cOffset + m * p.cStride + n;
    C0[at] ${accumulate ? "+=" : "="} p.alpha * sum${scaled ? " * SCALES[n]" : ""}${biased ? " + BIAS[n]" : ""};
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

/** Keys that attention looks at together. */
const KEYS = 64;
/** Steps of a loop that are written out, so that their reads overlap. */
const TOGETHER = 8;

/**
 * Attention of one token and head over its row's pages, a workgroup for each: 64 keys at a time, with
 * a running maximum and sum. A token sees what is before it alone, so a row's numbers do not depend on
 * what else is in the step.
 */
export function attendPages(dim: number): Program {
  const parts = Math.ceil(dim / KEYS);
  const wide = dim % 4 === 0;
  const each = (...texts: ((i: number) => string)[]) =>
    `for (var i = 0u; i < ${KEYS}u; i += ${TOGETHER}u) {
${texts.map((text) => times(TOGETHER, (i) => `      ${text(i)}`)).join("\n")}
    }`;
  const value = (at: string) => (wide ? `cache[(${at}) / 4u][(${at}) % 4u]` : `cache[${at}]`);
  const score = wide
    ? times(dim / 4, (i) => {
        const at = `k${i}`;
        return `      let ${at} = cache[place / 4u + ${i}u]; ${["x", "y", "z", "w"].map((part, j) => `score = fma(query[${4 * i + j}], ${at}.${part}, score);`).join(" ")}`;
      })
    : `      for (var d = 0u; d < ${dim}u; d++) { score = fma(query[d], cache[place + d], score); }`;
  return {
    key: `attend pages ${dim}`,
    code: () => `${declare({
      reads: ["qkv", wide ? "cache:vec4f" : "cache", fed, "pages:i32"],
      writes: ["out"],
      whole: ["tokens", "heads", "kvHeads", "dim", "page", "first"],
      fractions: ["scale"],
    })}
var<workgroup> query: array<f32, ${parts * KEYS}>;
var<workgroup> weights: array<f32, ${KEYS}>;
var<workgroup> places: array<u32, ${KEYS}>;
var<workgroup> red: array<f32, ${KEYS}>;
@compute @workgroup_size(${KEYS})
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let token = wg.x; let head = wg.y;
  let kv = head / (p.heads / p.kvHeads);
  let width = p.kvHeads * p.dim;
  let line = u32(fed[(p.first + token) * 2u]); let position = u32(fed[(p.first + token) * 2u + 1u]);
${times(parts, (c) => `  if (${KEYS * c}u + lid < p.dim) { query[${KEYS * c}u + lid] = qkv[(token * (p.heads + 2u * p.kvHeads) + head) * p.dim + ${KEYS * c}u + lid]; }`)}
${times(parts, (c) => `  let d${c} = min(${KEYS * c}u + lid, p.dim - 1u); var o${c} = 0.0;`)}
  var most = -1e30; var sum = 0.0;
  for (var k0 = 0u; k0 <= position; k0 += ${KEYS}u) {
    workgroupBarrier();
    // Past the last key the last one is read again, and weighs nothing.
    let at = min(k0 + lid, position);
    let place = (u32(pages[line + at / p.page]) * 2u * p.page + at % p.page) * width + kv * p.dim;
    places[lid] = place + p.page * width;
    var score = 0.0;
    {
${score}
    }
    score = select(-1e30, score * p.scale, k0 + lid <= position);
    red[lid] = score;
    workgroupBarrier();
    var next = most;
    ${each((i) => `next = max(next, red[i + ${i}u]);`)}
    let shrink = exp(most - next); most = next;
    weights[lid] = select(0.0, exp(score - most), k0 + lid <= position);
    workgroupBarrier();
    sum *= shrink;
    ${each((i) => `sum += weights[i + ${i}u];`)}
${times(
  parts,
  (c) => `    o${c} *= shrink;
    ${each(
      (i) => `let v${i} = ${value(`places[i + ${i}u] + d${c}`)};`,
      (i) => `o${c} = fma(weights[i + ${i}u], v${i}, o${c});`,
    )}`,
)}
  }
${times(parts, (c) => `  if (${KEYS * c}u + lid < p.dim) { out[(token * p.heads + head) * p.dim + ${KEYS * c}u + lid] = o${c} / sum; }`)}
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
