import type { Program } from "../programs.js";
import { declare, times } from "./shader.js";
import { readStored, storedAs, type StoredType } from "./stored.js";

/** The block of results one workgroup makes, and how far it looks at once. */
export const TILE = 64;
const DEPTH = 16;
/** Threads among which `fewRows` shares the depth, 8 numbers at a time. */
export const LANES = 32;

/** How an operand is read: by rows, or transposed. */
interface Operand {
  name: string;
  transposed: boolean;
  /** How it lies in memory. Default: float32. */
  stored?: StoredType;
}

/**
 * Shared memory and the accumulators: 256 threads, each with 4 x 4 results in registers, so that each
 * number brought to shared memory is used 64 times and each that is read from there 4 times.
 */
export const tileMemory = `
var<workgroup> sa: array<f32, ${DEPTH * (TILE + 1)}>;
var<workgroup> sb: array<f32, ${DEPTH * (TILE + 1)}>;`;

export const accumulators = times(4, (i) => times(4, (j) => `  var c${i}${j} = 0.0;`));

/** Brings one side of a tile to shared memory; adjacent threads read adjacent numbers. */
function bring(
  to: "sa" | "sb",
  { name, transposed, stored = "float32" }: Operand,
  {
    first,
    size,
    depth,
    stride,
    offset,
  }: Record<"first" | "size" | "depth" | "stride" | "offset", string>,
  alongDepth: boolean,
  depthAt: string,
): string {
  // alongDepth: the operand's adjacent numbers are neighbours in depth.
  const places = alongDepth
    ? `let kk = lid % ${DEPTH}u; let r = lid / ${DEPTH}u + ${TILE / 4}u * e;`
    : `let r = lid % ${TILE}u; let kk = lid / ${TILE}u + 4u * e;`;
  const at =
    transposed === (to === "sa")
      ? `kAt * ${stride} + ${first} + r`
      : `(${first} + r) * ${stride} + kAt`;
  return `    for (var e = 0u; e < 4u; e++) {
      ${places}
      let kAt = ${depthAt};
      var x = 0.0;
      if (${first} + r < ${size} && kAt < ${depth}) { let at = ${offset} + ${at}; x = ${readStored(name, stored, "at")}; }
      ${to}[kk * ${TILE + 1}u + r] = x;
    }`;
}

/**
 * Adds a product over the whole depth to the accumulators of the tile at (m0, n0). `sizes` are
 * expressions: rows m, columns n, depth k, strides and offsets of both operands. `byLanes`: in the order of `fewRows`.
 */
export function tileProduct(
  a: Operand,
  b: Operand,
  sizes: Record<"m" | "n" | "k" | "aStride" | "bStride" | "aOffset" | "bOffset", string>,
  byLanes = false,
): string {
  const { m, n, k } = sizes;
  const depthAt = byLanes ? `8u * (lane + ${LANES}u * (k0 + kk / 8u)) + kk % 8u` : "k0 + kk";
  const loop = byLanes
    ? `for (var k0 = 0u; 8u * (lane + ${LANES}u * k0) < ${k}; k0 += ${DEPTH / 8}u)`
    : `for (var k0 = 0u; k0 < ${k}; k0 += ${DEPTH}u)`;
  const each = (text: (name: string) => string) =>
    times(4, (i) => `  ${Array.from({ length: 4 }, (_, j) => text(`${i}${j}`)).join(" ")}`);
  const sums = `  ${loop} {
${bring("sa", a, { first: "m0", size: m, depth: k, stride: sizes.aStride, offset: sizes.aOffset }, !a.transposed, depthAt)}
${bring("sb", b, { first: "n0", size: n, depth: k, stride: sizes.bStride, offset: sizes.bOffset }, b.transposed, depthAt)}
    workgroupBarrier();
    for (var kk = 0u; kk < ${DEPTH}u; kk++) {
${times(4, (i) => `      let a${i} = sa[kk * ${TILE + 1}u + ty * 4u + ${i}u];`)}
${times(4, (j) => `      let b${j} = sb[kk * ${TILE + 1}u + tx + ${16 * j}u];`)}
${times(4, (i) => `      ${Array.from({ length: 4 }, (_, j) => `c${i}${j} = fma(a${i}, b${j}, c${i}${j});`).join(" ")}`)}
    }
    workgroupBarrier();
  }`;
  if (!byLanes) return sums;
  return `${each((at) => `var sum${at} = 0.0;`)}
  for (var lane = 0u; lane < ${LANES}u; lane++) {
${sums}
${each((at) => `sum${at} += c${at}; c${at} = 0.0;`)}
  }
${each((at) => `c${at} = sum${at};`)}`;
}

/** For each of a thread's results: its row, its column and its value, where it lies inside m x n. */
export function eachResult(
  m: string,
  n: string,
  use: (row: string, column: string, value: string) => string,
): string {
  return times(4, (i) =>
    times(
      4,
      (j) => `  { let row = m0 + ty * 4u + ${i}u; let column = n0 + tx + ${16 * j}u;
    if (row < ${m} && column < ${n}) { ${use("row", "column", `c${i}${j}`)} } }`,
    ),
  );
}

export const threads = `  let tx = lid % 16u; let ty = lid / 16u;`;

/**
 * C = alpha A B, up to three products in one dispatch, distinguished by what is put together:
 * `columns`: A [B0 | B1 | B2] into C0, C1, C2; `depth`: A0 B0 + A1 B1 + A2 B2; `rows`: A0 B, A1 B, A2 B.
 * With `apart` nothing is shared: A0 B0, A1 B1, A2 B2, whose sizes differ along that axis.
 */
export interface MatmulKind {
  parts: 1 | 2 | 3;
  along: "columns" | "depth" | "rows";
  apart?: boolean;
  aTransposed: boolean;
  bTransposed: boolean;
  /** A bias for each column, added to the result. */
  biased?: boolean;
  /** Whether the result is added to what is there. */
  accumulate?: boolean;
  /** How B lies in memory, of one product alone; bytes have a scale for each column. Default: float32. */
  stored?: StoredType;
  /** Whether sums are taken in the order of `fewRows`. */
  byLanes?: boolean;
}

/** Names of the numbers of a product, in order; the sizes along the joined axis are n0, n1, n2. */
export const matmulWhole = [
  ...["m", "n", "k", "s0", "s1", "s2"],
  ...["aOffset", "bOffset", "cOffset", "aStride", "bStride", "cStride"],
];

export function matmul(kind: MatmulKind): Program {
  const { parts, along, apart, aTransposed, bTransposed, biased, accumulate } = kind;
  const { stored = "float32", byLanes } = kind;
  const key = `matmul ${parts} ${along}${apart ? " apart" : ""} ${aTransposed ? "t" : "n"}${bTransposed ? "t" : "n"}${biased ? " bias" : ""}${accumulate ? " add" : ""}${byLanes ? " by lanes" : ""} ${stored}`;
  return { key, code: () => matmulCode(kind) };
}

function matmulCode(kind: MatmulKind): string {
  const { parts, along, apart = false, aTransposed, bTransposed, biased, accumulate } = kind;
  const { stored = "float32" } = kind;
  const scaled = stored === "int8";
  const split = (name: string, when: boolean) =>
    when ? Array.from({ length: parts }, (_, i) => `${name}${i}`) : [`${name}0`];
  const as = split("a", apart || along !== "columns");
  const bs = split("b", apart || along !== "rows");
  const cs = split("c", apart || along !== "depth");
  const head = declare({
    reads: [
      ...as.map((name) => name.toUpperCase()),
      ...bs.map((name) => storedAs(name.toUpperCase(), stored)),
      ...(scaled ? ["SCALES"] : []),
      ...(biased ? ["BIAS"] : []),
    ],
    writes: cs.map((name) => name.toUpperCase()),
    whole: matmulWhole,
    fractions: ["alpha"],
  });
  const store = (c: string, m: string, n: string, stride: string) =>
    eachResult(m, n, (row, column, value) => {
      const sum = `p.alpha * ${value}${scaled ? ` * SCALES[${column}]` : ""}${biased ? ` + BIAS[${column}]` : ""}`;
      return `${c}[p.cOffset + ${row} * ${stride} + ${column}] ${accumulate ? "+=" : "="} ${sum};`;
    });
  const product = (i: number) => {
    const joined = `p.s${i}`;
    const at = (names: string[]) => (names[i] ?? names[0]!).toUpperCase();
    const one = parts === 1;
    const m = along === "rows" ? joined : "p.m";
    const n = along === "columns" ? joined : "p.n";
    const k = along === "depth" ? joined : "p.k";
    const tight = {
      aStride: one ? "p.aStride" : aTransposed ? m : k,
      bStride: one ? "p.bStride" : bTransposed ? k : n,
    };
    const sizes = { m, n, k, ...tight, aOffset: "p.aOffset", bOffset: "p.bOffset" };
    const text = tileProduct(
      { name: at(as), transposed: aTransposed },
      { name: at(bs), transposed: bTransposed, stored },
      sizes,
      kind.byLanes,
    );
    return { text, store: store(at(cs), m, n, one ? "p.cStride" : n) };
  };
  const joinedTile = along === "rows" ? "wg.y" : "wg.x";
  const first = along === "rows" ? "m0" : "n0";
  let body: string;
  if (parts === 1 || (along === "depth" && !apart)) {
    const all = Array.from({ length: parts }, (_, i) => product(i));
    body = `${all.map(({ text }) => text).join("\n")}\n${all[0]!.store}`;
  } else {
    // Which product this workgroup belongs to: the same for all of its threads.
    body = times(parts, (i) => {
      const { text, store } = product(i);
      const size = along === "depth" ? "p.n" : `p.s${i}`;
      return `  if (tile < (${size} + ${TILE - 1}u) / ${TILE}u) {
  ${first} = tile * ${TILE}u;
${text}
${store}
  return;
  }
  tile -= (${size} + ${TILE - 1}u) / ${TILE}u;`;
    });
    body = `  var tile = ${joinedTile};\n${body}`;
  }
  return `${head}
${tileMemory}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
${threads}
  var m0 = wg.y * ${TILE}u; var n0 = wg.x * ${TILE}u;
${accumulators}
${body}
}`;
}
