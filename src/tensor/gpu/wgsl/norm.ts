import type { Program } from "../programs.js";
import { declare, entry } from "./shader.js";

const reduce = `
var<workgroup> red: array<f32, 64>;
fn total(lid: u32, x: f32) -> f32 {
  red[lid] = x;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half /= 2u) {
    if (lid < half) { red[lid] += red[lid + half]; }
    workgroupBarrier();
  }
  let sum = red[0];
  workgroupBarrier();
  return sum;
}`;

/** y = x * inverse * weight, a workgroup for each row. */
export const rmsNorm: Program = {
  key: "rms norm",
  code: () => `${declare({ reads: ["x", "weight"], writes: ["y", "inverse"], whole: ["rows", "width"], fractions: ["epsilon"] })}
${reduce}
${entry(
  64,
  `  if (group >= p.rows) { return; }
  let at = group * p.width;
  var sum = 0.0;
  for (var i = lid; i < p.width; i += 64u) { let v = x[at + i]; sum = fma(v, v, sum); }
  let scale = 1.0 / sqrt(total(lid, sum) / f32(p.width) + p.epsilon);
  if (lid == 0u) { inverse[group] = scale; }
  for (var i = lid; i < p.width; i += 64u) { y[at + i] = x[at + i] * scale * weight[i]; }`,
)}`,
};

export const rmsNormGrad: Program = {
  key: "rms norm grad",
  code: () => `${declare({ reads: ["dy", "x", "weight", "inverse"], writes: ["dx"], whole: ["rows", "width"] })}
${reduce}
${entry(
  64,
  `  if (group >= p.rows) { return; }
  let at = group * p.width; let scale = inverse[group];
  var sum = 0.0;
  for (var i = lid; i < p.width; i += 64u) { sum = fma(dy[at + i] * weight[i], x[at + i], sum); }
  let mean = total(lid, sum) / f32(p.width) * scale * scale;
  for (var i = lid; i < p.width; i += 64u) {
    dx[at + i] = scale * (dy[at + i] * weight[i] - x[at + i] * mean);
  }`,
)}`,
};

/**
 * Sums of columns, of dy or of dy * x * inverse (a norm's weight): 16 columns a workgroup, its 16 groups
 * of threads taking every sixteenth row. Up to three arrays side by side in one dispatch.
 */
export function columnSums(parts: 1 | 2 | 3, normed: boolean): Program {
  const names = Array.from({ length: parts }, (_, i) => i);
  const reads = normed ? ["dy0", "x", "inverse"] : names.map((i) => `dy${i}`);
  const one = (i: number) => `  if (tile < (p.w${i} + 15u) / 16u) {
  let column = tile * 16u + lid % 16u;
  var sum = 0.0;
  if (column < p.w${i}) {
    for (var row = lid / 16u; row < p.rows; row += 16u) {
      let at = row * p.w${i} + column;
      sum += dy${i}[at]${normed ? " * x[at] * inverse[row]" : ""};
    }
  }
  red[lid] = sum;
  workgroupBarrier();
  if (lid < 16u && column < p.w${i}) {
    var all = 0.0;
    for (var r = 0u; r < 16u; r++) { all += red[r * 16u + lid]; }
    sums${i}[column] = all;
  }
  return;
  }
  tile -= (p.w${i} + 15u) / 16u;`;
  return {
    key: `column sums ${parts}${normed ? " norm" : ""}`,
    code: () => `${declare({ reads, writes: names.map((i) => `sums${i}`), whole: ["rows", "w0", "w1", "w2"] })}
var<workgroup> red: array<f32, 256>;
${entry(256, `  var tile = group;\n${names.map(one).join("\n")}`)}`,
  };
}
