import type { Program } from "../programs.js";
import { declare, entry } from "./shader.js";
import { readStored, storedAs, type StoredType } from "./stored.js";

const each = (body: string) =>
  entry(256, `  let i = group * 256u + lid;\n  if (i >= p.count) { return; }\n${body}`);

/** silu(gate) * up */
export const swiglu: Program = {
  key: "swiglu",
  code: () => `${declare({ reads: ["gate", "up"], writes: ["out"], whole: ["count"] })}
${each("  let g = gate[i];\n  out[i] = g / (1.0 + exp(-g)) * up[i];")}`,
};

export const swigluGrad: Program = {
  key: "swiglu grad",
  code: () => `${declare({ reads: ["dout", "gate", "up"], writes: ["dgate", "dup"], whole: ["count"] })}
${each(`  let g = gate[i]; let s = 1.0 / (1.0 + exp(-g));
  dup[i] = dout[i] * g * s;
  dgate[i] = dout[i] * up[i] * s * (1.0 + g * (1.0 - s));`)}`,
};

/** One thread per pair of numbers that turn together: of two arrays where there are two. */
const turnWhole = ["time", "half", "aHeads", "bHeads", "aCount", "count"];
const pairs = (use: string) =>
  entry(
    256,
    `  let n = group * 256u + lid;
  if (n >= p.count) { return; }
  let first = n < p.aCount;
  let local = select(n - p.aCount, n, first);
  let heads = select(p.bHeads, p.aHeads, first);
  let pair = local % p.half; let vector = local / p.half;
  let head = vector % heads; let t = (vector / heads) % p.time;
  let at = vector * 2u * p.half + pair;
  let c = cos[t * p.half + pair]; let s = sin[t * p.half + pair] * p.direction;
${use}`,
  );

/** Rotary positions of one or two arrays, out of place: forwards with direction 1, back with -1. */
export function turn(both: boolean): Program {
  const one = (from: string, to: string) =>
    `    let x = ${from}[at]; let y = ${from}[at + p.half];
    ${to}[at] = x * c - y * s; ${to}[at + p.half] = y * c + x * s;`;
  return {
    key: both ? "turn both" : "turn",
    code: () => `${declare({
      reads: ["cos", "sin", "a", ...(both ? ["b"] : [])],
      writes: ["outA", ...(both ? ["outB"] : [])],
      whole: turnWhole,
      fractions: ["direction"],
    })}
${pairs(both ? `  if (first) {\n${one("a", "outA")}\n  } else {\n${one("b", "outB")}\n  }` : one("a", "outA"))}`,
  };
}

/** Adds biases to queries and keys and turns them, in place, and adds the values' bias. */
export function biasAndTurn(biased: boolean): Program {
  const one = (name: string) => {
    const bias = (shift: string) =>
      biased ? ` + b${name}[head * 2u * p.half + pair${shift}]` : "";
    return `    let x = ${name}[at]${bias("")}; let y = ${name}[at + p.half]${bias(" + p.half")};
    ${name}[at] = x * c - y * s; ${name}[at + p.half] = y * c + x * s;`;
  };
  return {
    key: `turn in place${biased ? " bias" : ""}`,
    code: () => `${declare({
      reads: ["cos", "sin", ...(biased ? ["bq", "bk", "bv"] : [])],
      writes: ["q", "k", ...(biased ? ["v"] : [])],
      whole: turnWhole,
      fractions: ["direction"],
    })}
${pairs(`  if (first) {\n${one("q")}\n  } else {\n${one("k")}\n${biased ? "    v[at] += bv[head * 2u * p.half + pair]; v[at + p.half] += bv[head * 2u * p.half + pair + p.half];\n" : ""}  }`)}`,
  };
}

/** Adds a bias to each row of up to three arrays, in place (before norms over heads). */
export const addBiases: Program = {
  key: "add biases",
  code: () => `${declare({ reads: ["b0", "b1", "b2"], writes: ["x0", "x1", "x2"], whole: ["count", "w0", "w1", "w2"] })}
${each(`  let width = p.w0 + p.w1 + p.w2; let row = i / width; var at = i % width;
  if (at < p.w0) { x0[row * p.w0 + at] += b0[at]; return; }
  at -= p.w0;
  if (at < p.w1) { x1[row * p.w1 + at] += b1[at]; return; }
  at -= p.w1;
  x2[row * p.w2 + at] += b2[at];`)}`,
};

/** Rows of a table by ids; an id that is not there gives 0. */
export function embed(stored: StoredType = "float32"): Program {
  return {
    key: `embed ${stored}`,
    code: () => `${declare({ reads: [storedAs("table", stored), "ids:i32"], writes: ["out"], whole: ["count", "width", "vocabulary"] })}
${each(`  let id = ids[i / p.width]; let at = u32(max(id, 0)) * p.width + i % p.width;
  out[i] = select(0.0, ${readStored("table", stored, "at")}, id >= 0 && u32(id) < p.vocabulary);`)}`,
  };
}

/**
 * The rows of each id added up in order, without atomics: the workgroup of an id's first place does it,
 * those of the later ones have nothing to do. The table was cleared before.
 */
export const embedGrad: Program = {
  key: "embed grad",
  code: () => `${declare({ reads: ["dy", "ids:i32"], writes: ["dtable"], whole: ["rows", "width", "vocabulary"] })}
var<workgroup> earlier: atomic<u32>;
${entry(
  64,
  `  if (group >= p.rows) { return; }
  let id = ids[group];
  if (id < 0 || u32(id) >= p.vocabulary) { return; }
  var found = 0u;
  for (var j = lid; j < group; j += 64u) { if (ids[j] == id) { found = 1u; } }
  if (found == 1u) { atomicStore(&earlier, 1u); }
  workgroupBarrier();
  if (atomicLoad(&earlier) == 1u) { return; }
  for (var c = lid; c < p.width; c += 64u) {
    var sum = 0.0;
    for (var j = group; j < p.rows; j++) { if (ids[j] == id) { sum += dy[j * p.width + c]; } }
    dtable[u32(id) * p.width + c] = sum;
  }`,
)}`,
};
