import type { Program } from "../programs.js";
import { type MatmulKind, matmulWhole } from "./matmul.js";
import { declare, times } from "./shader.js";

/** The block of results one workgroup makes; a thread makes 8 rows of 4. */
const ROWS = 128;
const COLUMNS = 64;
const DEPTH = 16;
const THREADS = (ROWS / 8) * (COLUMNS / 4);

/** Workgroups from which the larger blocks are worth it: fewer leave processors of the GPU idle. */
const ENOUGH = 256;

type Kind = Pick<MatmulKind, "aTransposed" | "bTransposed" | "biased" | "accumulate">;

interface Shape {
  m: number;
  n: number;
  k: number;
  /** Strides and offsets of A, B and C, in numbers. */
  places: readonly number[];
}

/** How many workgroups `largeMatmul` takes for this product; nothing where `matmul` is faster or has to do it. */
export function largeGroups(kind: Kind, { m, n, k, places }: Shape): [number, number] | undefined {
  const groups: [number, number] = [Math.ceil(n / COLUMNS), Math.ceil(m / ROWS)];
  const fours = [n, ...places, kind.aTransposed ? m : k, kind.bTransposed ? k : n];
  const fits = fours.every((number) => number % 4 === 0);
  return fits && groups[0] * groups[1] >= ENOUGH ? groups : undefined;
}

/** One side of a block: 4 x 4 numbers of it by each of the first threads, read ahead into registers. */
interface Side {
  array: "A0" | "B0";
  name: "a" | "b";
  /** How long the block is across the depth, and where it begins and must end. */
  block: number;
  first: string;
  size: string;
  stride: string;
  offset: string;
  /** Whether adjacent numbers in memory are neighbours in depth. */
  alongDepth: boolean;
}

function place({ name, block, alongDepth }: Side): string {
  const along = alongDepth ? DEPTH / 4 : block / 4;
  const [inner, outer] = alongDepth ? ["k", "r"] : ["r", "k"];
  return `  let ${name}${inner} = lid % ${along}u * 4u; let ${name}${outer} = lid / ${along}u * 4u;
${times(4, (i) => `  var ${name}${i} = vec4f();`)}`;
}

function read(
  { array, name, block, first, size, stride, offset, alongDepth }: Side,
  whole: boolean,
) {
  const lines = times(4, (i) => {
    const [r, k] = alongDepth
      ? [`${first} + ${name}r + ${i}u`, `k0 + ${name}k`]
      : [`${first} + ${name}r`, `k0 + ${name}k + ${i}u`];
    const at = alongDepth ? `(${r}) * ${stride} + ${k}` : `(${k}) * ${stride} + ${r}`;
    const value = `${array}[(${offset} + ${at}) / 4u]`;
    return whole
      ? `    ${name}${i} = ${value};`
      : `    ${name}${i} = vec4f(); if (${r} < ${size} && ${k} < p.k) { ${name}${i} = ${value}; }`;
  });
  const some = (block * DEPTH) / 16;
  return some < THREADS ? `    if (lid < ${some}u) {\n${lines}\n    }` : lines;
}

/** Puts what was read into shared memory, by depth. */
function put({ name, block, alongDepth }: Side): string {
  const lines = times(4, (i) => {
    const column = `vec4f(${[0, 1, 2, 3].map((j) => `${name}${j}.${"xyzw"[i]}`).join(", ")})`;
    return `    s${name}[(${name}k + ${i}u) * ${block / 4}u + ${name}r / 4u] = ${alongDepth ? column : `${name}${i}`};`;
  });
  const some = (block * DEPTH) / 16;
  return some < THREADS ? `    if (lid < ${some}u) {\n${lines}\n    }` : lines;
}

/**
 * C (+)= alpha A B (+ bias) for large matrices whose rows begin at multiples of 4 numbers (`largeGroups`). It adds up
 * in the order of `matmul`, so that either gives the same bytes, and takes the same numbers.
 */
export function largeMatmul(kind: Kind): Program {
  const { aTransposed, bTransposed, biased, accumulate } = kind;
  const key = `large matmul ${aTransposed ? "t" : "n"}${bTransposed ? "t" : "n"}${biased ? " bias" : ""}${accumulate ? " add" : ""}`;
  return { key, code: () => code(kind) };
}

function code({ aTransposed, bTransposed, biased, accumulate }: Kind): string {
  const sides: Side[] = [
    {
      ...{ array: "A0", name: "a", block: ROWS, first: "m0", size: "p.m" },
      ...{ stride: "p.aStride", offset: "p.aOffset", alongDepth: !aTransposed },
    },
    {
      ...{ array: "B0", name: "b", block: COLUMNS, first: "n0", size: "p.n" },
      ...{ stride: "p.bStride", offset: "p.bOffset", alongDepth: bTransposed },
    },
  ];
  const all = (text: (side: Side) => string) => sides.map(text).join("\n");
  const loop = (whole: boolean) => `  var k0 = 0u;
${all((side) => read(side, whole))}
  while (k0 < p.k) {
${all(put)}
    workgroupBarrier();
    k0 += ${DEPTH}u;
    if (k0 < p.k) {
${all((side) => read(side, whole))}
    }
    for (var kk = 0u; kk < ${DEPTH}u; kk++) {
      let x0 = sa[kk * ${ROWS / 4}u + ty]; let x1 = sa[kk * ${ROWS / 4}u + ${ROWS / 8}u + ty]; let y = sb[kk * ${COLUMNS / 4}u + tx];
${times(8, (i) => `      c${i} = fma(vec4f(x${i >> 2}.${"xyzw"[i & 3]}), y, c${i});`)}
    }
    workgroupBarrier();
  }`;
  return `${declare({
    reads: ["A0:vec4f", "B0:vec4f", ...(biased ? ["BIAS:vec4f"] : [])],
    writes: ["C0:vec4f"],
    whole: matmulWhole,
    fractions: ["alpha"],
  })}
var<workgroup> sa: array<vec4f, ${(DEPTH * ROWS) / 4}>;
var<workgroup> sb: array<vec4f, ${(DEPTH * COLUMNS) / 4}>;
@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let tx = lid % ${COLUMNS / 4}u; let ty = lid / ${COLUMNS / 4}u;
  let m0 = wg.y * ${ROWS}u; let n0 = wg.x * ${COLUMNS}u;
${times(8, (i) => `  var c${i} = vec4f();`)}
${all(place)}
  if (m0 + ${ROWS}u <= p.m && n0 + ${COLUMNS}u <= p.n && p.k % ${DEPTH}u == 0u) {
${loop(true)}
  } else {
${loop(false)}
  }
  let column = n0 + tx * 4u;
  if (column >= p.n) { return; }
${times(
  8,
  (i) => `  { let row = m0 + ${(i >> 2) * (ROWS / 2)}u + ty * 4u + ${i & 3}u;
    if (row < p.m) { C0[(p.cOffset + row * p.cStride + column) / 4u] ${accumulate ? "+=" : "="} p.alpha * c${i}${biased ? " + BIAS[column / 4u]" : ""}; } }`,
)}
}`;
}
