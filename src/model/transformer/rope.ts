import * as exact from "../../base/exact/index.js";
import { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import { scalingKind } from "../rope-scalings/registry.js";

const single = Math.fround;

/** How fast each pair turns where nothing stretches it, rounded to single precision where transformers rounds. */
function plainFrequencies(
  { headDim, rotaryDim = headDim }: ModelConfig,
  theta: number,
): Float32Array {
  return Float32Array.from(
    { length: rotaryDim / 2 },
    (_, i) => 1 / single(theta ** single((2 * i) / rotaryDim)),
  );
}

/**
 * How fast each pair of a head's dimensions turns, in radians per position: a value for each pair that turns. Of n
 * dimensions that turn, dimension i is paired with i + n / 2.
 */
export function ropeFrequencies(config: ModelConfig): Float32Array {
  const plain = plainFrequencies(config, config.ropeTheta);
  const { ropeScaling: scaling } = config;
  return scaling ? scalingKind(scaling).frequencies(plain, scaling, config) : plain;
}

/** A way to turn queries and keys: how fast each pair turns, and what cosines and sines are multiplied by. */
export interface Rotary {
  frequencies: Float32Array;
  magnitude: number;
}

/** The ways that a model's layers turn queries and keys, and which of them each layer has. */
export function rotaries(config: ModelConfig): { all: Rotary[]; of: number[] } {
  const { layers, ropeScaling, windowRopeTheta, windowed, rotated } = config;
  const kinds: Record<"main" | "window" | "none", () => Rotary> = {
    main: () => ({
      frequencies: ropeFrequencies(config),
      magnitude: (ropeScaling && scalingKind(ropeScaling).magnitude?.(ropeScaling)) ?? 1,
    }),
    window: () => ({ frequencies: plainFrequencies(config, windowRopeTheta!), magnitude: 1 }),
    // Angles of 0 leave everything as it is.
    none: () => ({ frequencies: new Float32Array(ropeFrequencies(config).length), magnitude: 1 }),
  };
  const ofLayer = Array.from({ length: layers }, (_, i) =>
    rotated?.[i] === false
      ? "none"
      : windowRopeTheta !== undefined && windowed?.[i] === true
        ? "window"
        : "main",
  );
  const used = [...new Set<keyof typeof kinds>(["main", ...ofLayer])];
  return { all: used.map((kind) => kinds[kind]()), of: ofLayer.map((kind) => used.indexOf(kind)) };
}

/** Cosine and sine of every position's angles, each [positions, headDim / 2]. */
export interface RotaryTable {
  cos: tf.Tensor;
  sin: tf.Tensor;
}

/** The angles by which positions 0, 1, 2, ... turn each of `half` pairs: 0 for those that have no frequency. */
export function rotaryTable(
  { frequencies, magnitude }: Rotary,
  positions: number,
  half = frequencies.length,
): RotaryTable {
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let i = 0; i < cos.length; i++) {
    const angle = single(Math.floor(i / half) * (frequencies[i % half] ?? 0));
    cos[i] = magnitude * exact.cos(angle);
    sin[i] = magnitude * exact.sin(angle);
  }
  return { cos: tf.tensor2d(cos, [positions, half]), sin: tf.tensor2d(sin, [positions, half]) };
}
