import * as exact from "../../base/exact/index.js";
import { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import { scalingKind } from "../rope-scalings/registry.js";

const single = Math.fround;

/** How fast each pair turns where nothing stretches it, rounded to single precision where transformers rounds. */
function plainFrequencies(headDim: number, theta: number): Float32Array {
  return Float32Array.from(
    { length: headDim / 2 },
    (_, i) => 1 / single(theta ** single((2 * i) / headDim)),
  );
}

/**
 * How fast each pair of a head's dimensions turns, in radians per position: `headDim / 2` values. Dimension i is
 * paired with i + headDim / 2.
 */
export function ropeFrequencies(config: ModelConfig): Float32Array {
  const plain = plainFrequencies(config.headDim, config.ropeTheta);
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
  const { headDim, layers, ropeScaling, windowRopeTheta, windowed, rotated } = config;
  const kinds: Record<"main" | "window" | "none", () => Rotary> = {
    main: () => ({
      frequencies: ropeFrequencies(config),
      magnitude: (ropeScaling && scalingKind(ropeScaling).magnitude?.(ropeScaling)) ?? 1,
    }),
    window: () => ({ frequencies: plainFrequencies(headDim, windowRopeTheta!), magnitude: 1 }),
    // Angles of 0 leave everything as it is.
    none: () => ({ frequencies: new Float32Array(headDim / 2), magnitude: 1 }),
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

/** The angles by which positions 0, 1, 2, ... turn each pair of a head's dimensions. */
export function rotaryTable({ frequencies, magnitude }: Rotary, positions: number): RotaryTable {
  const half = frequencies.length;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let i = 0; i < cos.length; i++) {
    const angle = single(Math.floor(i / half) * frequencies[i % half]!);
    cos[i] = magnitude * exact.cos(angle);
    sin[i] = magnitude * exact.sin(angle);
  }
  return { cos: tf.tensor2d(cos, [positions, half]), sin: tf.tensor2d(sin, [positions, half]) };
}
