import type { Program } from "../programs.js";
import { declare, times } from "./shader.js";

/** Queries and keys of one tile, and how many of a head's numbers are in shared memory at once. */
export const BLOCK = 32;
const STRIDE = BLOCK + 1;

const whole = ["batch", "time", "heads", "kvHeads", "dim", "ragged"];

/**
 * 64 threads as 8 x 8, each with 4 x 4 of a 32 x 32 tile: rows ty * 4 + i, columns tx + 8 j. No scores
 * of a whole row are ever kept: the softmax goes along (a running maximum and a running sum).
 */
const memory = `
var<workgroup> sa: array<f32, ${BLOCK * STRIDE}>;
var<workgroup> sb: array<f32, ${BLOCK * STRIDE}>;
var<workgroup> sp: array<f32, ${BLOCK * STRIDE}>;`;

/** Where a number of q (or out, with `heads`) or k and v (with `kvHeads`) lies. */
const place = (heads: string, head: string) =>
  `((b * p.time + t) * ${heads} + ${head}) * p.dim + d`;

/** Brings 32 positions of one head, 32 numbers of each, to shared memory; what is not there is 0. */
function bring(
  to: string,
  from: string,
  first: string,
  heads: string,
  head: string,
  c: number,
): string {
  return `      for (var e = 0u; e < 16u; e++) {
        let at = lid + 64u * e; let t = ${first} + at / ${BLOCK}u; let d = ${c * BLOCK}u + at % ${BLOCK}u;
        var x = 0.0;
        if (t < limit && d < p.dim) { x = ${from}[${place(heads, head)}]; }
        ${to}[at / ${BLOCK}u * ${STRIDE}u + at % ${BLOCK}u] = x;
      }`;
}

/** target[i][j] += sum over d of sa[row i][d] * sb[column j][d]. */
const dots = (target: string) => `      for (var d = 0u; d < ${BLOCK}u; d++) {
${times(4, (i) => `        let a${i} = sa[(ty * 4u + ${i}u) * ${STRIDE}u + d];`)}
${times(4, (j) => `        let b${j} = sb[(tx + ${8 * j}u) * ${STRIDE}u + d];`)}
${times(4, (i) => times(4, (j) => `        ${target}${i}${j} = fma(a${i}, b${j}, ${target}${i}${j});`))}
      }`;

/** target[i][c, j] += sum over the tile's columns t of sp[row i][t] * sb[t][number j]. */
const mix = (target: string, c: number) => `      for (var t = 0u; t < ${BLOCK}u; t++) {
${times(4, (i) => `        let a${i} = sp[(ty * 4u + ${i}u) * ${STRIDE}u + t];`)}
${times(4, (j) => `        let b${j} = sb[t * ${STRIDE}u + tx + ${8 * j}u];`)}
${times(4, (i) => times(4, (j) => `        ${target}${i}_${c}${j} = fma(a${i}, b${j}, ${target}${i}_${c}${j});`))}
      }`;

const grid = (name: string, value = "0.0") =>
  times(4, (i) => times(4, (j) => `    ${name}${i}${j} = ${value};`));
const gridVars = (name: string) => times(4, (i) => times(4, (j) => `  var ${name}${i}${j} = 0.0;`));
const wideVars = (name: string, chunks: number) =>
  times(4, (i) => times(chunks, (c) => times(4, (j) => `  var ${name}${i}_${c}${j} = 0.0;`)));

/** The head of all three shaders: which block, which head, how long its row is. */
const start = (count: string) => `@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let tx = lid % 8u; let ty = lid / 8u;
  let b = wg.y / ${count}; let own = wg.y % ${count};
  var limit = p.time;
  if (p.ragged == 1u) { limit = min(p.time, u32(max(0, lengths[b]))); }`;

const stored = (
  to: string,
  from: string,
  chunks: number,
  heads: string,
  head: string,
  value: (x: string, i: number) => string,
) =>
  times(4, (i) =>
    times(chunks, (c) =>
      times(
        4,
        (j) => `  { let t = ${from} + ty * 4u + ${i}u; let d = ${c * BLOCK}u + tx + ${8 * j}u;
    if (t < p.time && d < p.dim) { ${to}[${place(heads, head)}] = ${value(`${i}_${c}${j}`, i)}; } }`,
      ),
    ),
  );

/** Chunks of 32 numbers that a head of this size takes. */
const chunksOf = (dim: number) => Math.ceil(dim / BLOCK);

/** out and the log of each softmax's denominator, a workgroup for 32 queries of a head. */
export function attention(dim: number): Program {
  const chunks = chunksOf(dim);
  return {
    key: `attention ${chunks}`,
    code: () => `${declare({ reads: ["q", "k", "v", "lengths:i32"], writes: ["out", "normaliser"], whole, fractions: ["scale"] })}
${memory}
var<workgroup> red: array<f32, ${BLOCK * 8}>;
${start("p.heads")}
  let kv = own / (p.heads / p.kvHeads);
  let q0 = wg.x * ${BLOCK}u;
${gridVars("s")}
${wideVars("o", chunks)}
${times(4, (i) => `  var m${i} = -1e30; var l${i} = 0.0;`)}
  let end = min(q0 + ${BLOCK}u, limit);
  for (var k0 = 0u; k0 < end; k0 += ${BLOCK}u) {
${grid("s")}
${times(
  chunks,
  (c) => `    {
${bring("sa", "q", "q0", "p.heads", "own", c)}
${bring("sb", "k", "k0", "p.kvHeads", "kv", c)}
      workgroupBarrier();
${dots("s")}
      workgroupBarrier();
    }`,
)}
${times(
  4,
  (i) => `    { let t = q0 + ty * 4u + ${i}u; var most = -1e30;
${times(4, (j) => `      { let key = k0 + tx + ${8 * j}u; s${i}${j} = select(-1e30, s${i}${j} * p.scale, key <= t && key < limit); most = max(most, s${i}${j}); }`)}
      red[(ty * 4u + ${i}u) * 8u + tx] = most; }`,
)}
    workgroupBarrier();
${times(
  4,
  (i) => `    { var most = m${i};
      for (var x = 0u; x < 8u; x++) { most = max(most, red[(ty * 4u + ${i}u) * 8u + x]); }
      let shrink = exp(m${i} - most); m${i} = most; l${i} *= shrink;
${times(4, (j) => `      { let w = select(0.0, exp(s${i}${j} - most), s${i}${j} > -1e29); l${i} += w; sp[(ty * 4u + ${i}u) * ${STRIDE}u + tx + ${8 * j}u] = w; }`)}
${times(chunks, (c) => times(4, (j) => `      o${i}_${c}${j} *= shrink;`))}
    }`,
)}
    workgroupBarrier();
${times(
  chunks,
  (c) => `    {
${bring("sb", "v", "k0", "p.kvHeads", "kv", c)}
      workgroupBarrier();
${mix("o", c)}
      workgroupBarrier();
    }`,
)}
  }
${times(4, (i) => `  red[(ty * 4u + ${i}u) * 8u + tx] = l${i};`)}
  workgroupBarrier();
${times(
  4,
  (i) => `  l${i} = 0.0;
  for (var x = 0u; x < 8u; x++) { l${i} += red[(ty * 4u + ${i}u) * 8u + x]; }
  { let t = q0 + ty * 4u + ${i}u; let inside = t < limit;
    if (tx == 0u && t < p.time) { normaliser[wg.y * p.time + t] = select(0.0, m${i} + log(l${i}), inside); } }
  let share${i} = select(0.0, 1.0 / l${i}, q0 + ty * 4u + ${i}u < limit);`,
)}
${stored("out", "q0", chunks, "p.heads", "own", (at, i) => `o${at} * share${i}`)}
}`,
  };
}

/** The sum over each head's numbers of gradient times output, which every score's gradient needs. */
export const attentionDelta: Program = {
  key: "attention delta",
  code: () => `${declare({ reads: ["dout", "out"], writes: ["delta"], whole: ["time", "heads", "dim", "count"] })}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) many: vec3u, @builtin(local_invocation_index) lid: u32) {
  let at = (wg.x + wg.y * many.x) * 64u + lid;
  if (at >= p.count) { return; }
  var sum = 0.0;
  for (var d = 0u; d < p.dim; d++) { sum = fma(dout[at * p.dim + d], out[at * p.dim + d], sum); }
  let row = at / p.heads;
  delta[((row / p.time) * p.heads + at % p.heads) * p.time + row % p.time] = sum;
}`,
};

/** Shares and gradients of the scores of a tile, from s and g (the values' side), into s and g. */
const slopes = (query: (i: number, j: number) => string, key: (i: number, j: number) => string) =>
  times(4, (i) =>
    times(
      4,
      (j) => `      { let t = ${query(i, j)}; let key = ${key(i, j)}; var w = 0.0; var slope = 0.0;
        if (t < limit && key <= t) {
          let at = (b * p.heads + head) * p.time + t;
          w = exp(s${i}${j} * p.scale - normaliser[at]);
          slope = w * (g${i}${j} - delta[at]) * p.scale;
        }
        s${i}${j} = w; g${i}${j} = slope; }`,
    ),
  );

const keep = (name: string) =>
  times(4, (i) =>
    times(4, (j) => `      sp[(ty * 4u + ${i}u) * ${STRIDE}u + tx + ${8 * j}u] = ${name}${i}${j};`),
  );

/** The gradient of q, a workgroup for 32 queries of a head. */
export function attentionQueryGrad(dim: number): Program {
  const chunks = chunksOf(dim);
  return {
    key: `attention dq ${chunks}`,
    code: () => `${declare({ reads: ["dout", "q", "k", "v", "lengths:i32", "normaliser", "delta"], writes: ["dq"], whole, fractions: ["scale"] })}
${memory}
${start("p.heads")}
  let head = own; let kv = own / (p.heads / p.kvHeads);
  let q0 = wg.x * ${BLOCK}u;
${gridVars("s")}
${gridVars("g")}
${wideVars("o", chunks)}
  let end = min(q0 + ${BLOCK}u, limit);
  for (var k0 = 0u; k0 < end; k0 += ${BLOCK}u) {
${grid("s")}
${grid("g")}
${times(
  chunks,
  (c) => `    {
${bring("sa", "q", "q0", "p.heads", "head", c)}
${bring("sb", "k", "k0", "p.kvHeads", "kv", c)}
      workgroupBarrier();
${dots("s")}
      workgroupBarrier();
${bring("sa", "dout", "q0", "p.heads", "head", c)}
${bring("sb", "v", "k0", "p.kvHeads", "kv", c)}
      workgroupBarrier();
${dots("g")}
      workgroupBarrier();
    }`,
)}
${slopes(
  (i) => `q0 + ty * 4u + ${i}u`,
  (_, j) => `k0 + tx + ${8 * j}u`,
)}
${keep("g")}
    workgroupBarrier();
${times(
  chunks,
  (c) => `    {
${bring("sb", "k", "k0", "p.kvHeads", "kv", c)}
      workgroupBarrier();
${mix("o", c)}
      workgroupBarrier();
    }`,
)}
  }
${stored("dq", "q0", chunks, "p.heads", "head", (at) => `o${at}`)}
}`,
  };
}

/** The gradients of k and v, a workgroup for 32 keys of a key head and all query heads it serves. */
export function attentionKeyGrad(dim: number): Program {
  const chunks = chunksOf(dim);
  return {
    key: `attention dkv ${chunks}`,
    code: () => `${declare({ reads: ["dout", "q", "k", "v", "lengths:i32", "normaliser", "delta"], writes: ["dk", "dv"], whole, fractions: ["scale"] })}
${memory}
${start("p.kvHeads")}
  let kv = own; let group = p.heads / p.kvHeads;
  let k0 = wg.x * ${BLOCK}u;
${gridVars("s")}
${gridVars("g")}
${wideVars("x", chunks)}
${wideVars("y", chunks)}
  for (var head = kv * group; head < kv * group + group; head++) {
  for (var q0 = k0; q0 < limit; q0 += ${BLOCK}u) {
${grid("s")}
${grid("g")}
${times(
  chunks,
  (c) => `    {
${bring("sa", "k", "k0", "p.kvHeads", "kv", c)}
${bring("sb", "q", "q0", "p.heads", "head", c)}
      workgroupBarrier();
${dots("s")}
      workgroupBarrier();
${bring("sa", "v", "k0", "p.kvHeads", "kv", c)}
${bring("sb", "dout", "q0", "p.heads", "head", c)}
      workgroupBarrier();
${dots("g")}
      workgroupBarrier();
    }`,
)}
${slopes(
  (_, j) => `q0 + tx + ${8 * j}u`,
  (i) => `k0 + ty * 4u + ${i}u`,
)}
${keep("s")}
    workgroupBarrier();
${times(
  chunks,
  (c) => `    {
${bring("sb", "dout", "q0", "p.heads", "head", c)}
      workgroupBarrier();
${mix("y", c)}
      workgroupBarrier();
    }`,
)}
${keep("g")}
    workgroupBarrier();
${times(
  chunks,
  (c) => `    {
${bring("sb", "q", "q0", "p.heads", "head", c)}
      workgroupBarrier();
${mix("x", c)}
      workgroupBarrier();
    }`,
)}
  }
  }
${stored("dk", "k0", chunks, "p.kvHeads", "kv", (at) => `x${at}`)}
${stored("dv", "k0", chunks, "p.kvHeads", "kv", (at) => `y${at}`)}
}`,
  };
}
