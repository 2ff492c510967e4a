import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { ready } from "../backends.js";
import { tf } from "../tf.js";
import { gatedDeltaRule } from "./gated-delta-rule.js";

await ready();

/** Token by token, in double precision. */
function recurrent(
  [q, k, v, decay, beta]: readonly Float32Array[],
  { lines, time, keyDim, valueDim }: Record<"lines" | "time" | "keyDim" | "valueDim", number>,
): number[] {
  const out: number[] = [];
  for (let line = 0; line < lines; line++) {
    const state = new Float64Array(keyDim * valueDim);
    for (let t = 0; t < time; t++) {
      const at = line * time + t;
      const fade = Math.exp(decay![at]!);
      for (let j = 0; j < valueDim; j++) {
        let known = 0;
        for (let i = 0; i < keyDim; i++) {
          state[i * valueDim + j]! *= fade;
          known += state[i * valueDim + j]! * k![at * keyDim + i]!;
        }
        const written = (v![at * valueDim + j]! - known) * beta![at]!;
        let answer = 0;
        for (let i = 0; i < keyDim; i++) {
          state[i * valueDim + j]! += k![at * keyDim + i]! * written;
          answer += state[i * valueDim + j]! * q![at * keyDim + i]!;
        }
        out.push(answer);
      }
    }
  }
  return out;
}

for (const repeated of [false, true]) {
  test(`gatedDeltaRule() gives what the recurrence gives${repeated ? ", also where one key is written again and again" : ""}`, () => {
    const [lines, chunks, size, keyDim, valueDim] = [3, 3, 64, 5, 4];
    const time = chunks * size;
    const random = Random.from(6);
    const draw = (count: number, of: () => number) =>
      Float32Array.from({ length: count }, () => of());
    const unit = (count: number) => {
      const all = draw(count * keyDim, () => random.normal());
      for (let i = 0; i < count; i++) {
        const own = all.subarray(i * keyDim, (i + 1) * keyDim);
        if (repeated && i > 0) own.set(all.subarray(0, keyDim));
        const length = Math.hypot(...own);
        for (let d = 0; d < keyDim; d++) own[d]! /= length;
      }
      return all;
    };
    const given = [
      draw(lines * time * keyDim, () => random.normal()),
      unit(lines * time),
      draw(lines * time * valueDim, () => random.normal()),
      draw(lines * time, () => (repeated ? -1e-4 : -0.2 * random.uniform())),
      draw(lines * time, () => (repeated ? 0.999 : random.uniform())),
    ];
    const wanted = recurrent(given, { lines, time, keyDim, valueDim });
    // By lines and positions, then the first chunks of all lines first.
    const cut = (values: Float32Array, width: number) =>
      tf
        .tensor(values, [lines, chunks, size * width])
        .transpose([1, 0, 2])
        .reshape([chunks * lines, size, width]);
    const [q, k, v, decay, beta] = given.map((values, i) =>
      cut(values, [keyDim, keyDim, valueDim, 1, 1][i]!),
    );
    const rule = {
      ...{ q: q as tf.Tensor3D, k: k as tf.Tensor3D, v: v as tf.Tensor3D },
      decay: decay!.squeeze<tf.Tensor2D>([2]),
      beta: beta!.squeeze<tf.Tensor2D>([2]),
    };
    const found = gatedDeltaRule(rule, lines)
      .reshape([chunks, lines, size * valueDim])
      .transpose([1, 0, 2])
      .dataSync();
    const most = Math.max(...wanted.map(Math.abs));
    wanted.forEach((value, i) => assert.ok(Math.abs(value - found[i]!) < 1e-5 * most, `${i}`));
  });
}
