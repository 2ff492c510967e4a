import * as exact from "../../base/exact/index.js";
import { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";

const single = Math.fround;

/**
 * How fast each pair of a head's dimensions turns, in radians per position: `headDim / 2` values,
 * rounded to single precision where transformers rounds them. Dimension i is paired with
 * i + headDim / 2.
 */
export function ropeFrequencies(config: ModelConfig): Float32Array {
  const { headDim, ropeTheta, ropeScaling } = config;
  const frequencies = new Float32Array(headDim / 2);
  for (let i = 0; i < frequencies.length; i++) {
    frequencies[i] = 1 / single(ropeTheta ** single((2 * i) / headDim));
  }
  if (!ropeScaling) return frequencies;
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high } = ropeScaling;
  return frequencies.map((frequency) => {
    // Turns within the original context: many are left alone, few are stretched, between is blended.
    const turns = (ropeScaling.originalContext * frequency) / (2 * Math.PI);
    if (turns > high) return frequency;
    if (turns < low) return frequency / factor;
    const share = (turns - low) / (high - low);
    return ((1 - share) * frequency) / factor + share * frequency;
  });
}

/** Cosine and sine of every position's angles, each [positions, headDim / 2]. */
export interface RotaryTable {
  cos: tf.Tensor;
  sin: tf.Tensor;
}

/** The angles by which positions 0, 1, 2, ... turn each pair of a head's dimensions. */
export function rotaryTable(config: ModelConfig, positions: number): RotaryTable {
  const frequencies = ropeFrequencies(config);
  const half = frequencies.length;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let i = 0; i < cos.length; i++) {
    const angle = single(Math.floor(i / half) * frequencies[i % half]!);
    cos[i] = exact.cos(angle);
    sin[i] = exact.sin(angle);
  }
  return { cos: tf.tensor2d(cos, [positions, half]), sin: tf.tensor2d(sin, [positions, half]) };
}
