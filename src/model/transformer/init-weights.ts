import * as exact from "../../base/exact/index.js";
import { Random } from "../../base/random/random.js";
import type { ModelConfig } from "../config.js";

/** Fills with draws from a normal distribution; the stream gives the seed of a faster generator. */
function fillNormal(out: Float32Array, stream: Random, deviation: number): void {
  // xoshiro128**: weights are drawn by the million, a hundred times faster than a counter's hash.
  let [a, b, c, d] = [0, 1, 2, 3].map((i) => Math.floor(stream.at(i) * 2 ** 32) | 0) as [
    number,
    number,
    number,
    number,
  ];
  const uniform = () => {
    const five = Math.imul(b, 5);
    const result = Math.imul((five << 7) | (five >>> 25), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return ((result >>> 0) + 0.5) / 2 ** 32;
  };
  for (let i = 0; i < out.length; i += 2) {
    const radius = deviation * Math.sqrt(-2 * exact.log(uniform()));
    const angle = 2 * Math.PI * uniform();
    out[i] = radius * exact.cos(angle);
    if (i + 1 < out.length) out[i + 1] = radius * exact.sin(angle);
  }
}

/**
 * Fresh values of one weight: what makes norms 1, zeros for biases, decays as Qwen3.5 begins with them, else normal with
 * the model's deviation.
 * They depend on the seed and the weight's name and on nothing else.
 */
export function initialValues(
  name: string,
  size: number,
  seed: number,
  { initializerRange, normOffset }: Pick<ModelConfig, "initializerRange" | "normOffset">,
): Float32Array {
  const values = new Float32Array(size);
  const stream = Random.from(seed).split("init").split(name);
  if (/linear_attn\.(norm\.weight|dt_bias)$/.test(name)) values.fill(1);
  else if (name.endsWith("linear_attn.A_log")) {
    for (const i of values.keys()) values[i] = exact.log(0.01 + 15.99 * stream.at(i));
  } else if (name.includes("norm")) values.fill(1 - (normOffset ?? 0));
  else if (!name.endsWith("bias")) {
    fillNormal(values, stream, initializerRange);
  }
  return values;
}
