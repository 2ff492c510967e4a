import type { Program } from "../programs.js";
import { declare, entry } from "./shader.js";

/** Partial sums of squares, one for each workgroup; and their sum. */
export const squares: Program = {
  key: "squares",
  code: () => `${declare({ reads: ["x"], writes: ["sums"], whole: ["count", "groups"] })}
var<workgroup> red: array<f32, 256>;
${entry(
  256,
  `  var sum = 0.0;
  for (var i = group * 256u + lid; i < p.count; i += p.groups * 256u) { sum = fma(x[i], x[i], sum); }
  red[lid] = sum;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if (lid < half) { red[lid] += red[lid + half]; }
    workgroupBarrier();
  }
  if (lid == 0u) { sums[group] = red[0]; }`,
)}`,
};

export const addUp: Program = {
  key: "add up",
  code: () => `${declare({ reads: ["x"], writes: ["sum"], whole: ["count"] })}
var<workgroup> red: array<f32, 256>;
${entry(
  256,
  `  var all = 0.0;
  for (var i = lid; i < p.count; i += 256u) { all += x[i]; }
  red[lid] = all;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if (lid < half) { red[lid] += red[lid + half]; }
    workgroupBarrier();
  }
  if (lid == 0u) { sum[0] = red[0]; }`,
)}`,
};

/** AdamW over everything at once: parameters and moments lie in one buffer each. */
export const adamw: Program = {
  key: "adamw",
  code: () => `${declare({
    reads: ["gradient"],
    writes: ["parameter", "m", "v"],
    whole: ["count"],
    fractions: [
      "rate",
      "beta1",
      "beta2",
      "epsilon",
      "decay",
      "scale",
      "correction1",
      "correction2",
      "rest1",
      "rest2",
    ],
  })}
${entry(
  256,
  `  let i = group * 256u + lid;
  if (i >= p.count) { return; }
  let g = gradient[i] * p.scale;
  let first = m[i] * p.beta1 + g * p.rest1;
  let second = v[i] * p.beta2 + g * g * p.rest2;
  m[i] = first; v[i] = second;
  let step = first / p.correction1 / (sqrt(second / p.correction2) + p.epsilon);
  parameter[i] = parameter[i] * p.decay - step * p.rate;`,
)}`,
};
