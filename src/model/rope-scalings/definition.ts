import type { ConfigKeys } from "../config-keys.js";

/** What a scaling starts from. */
export interface RopeShape {
  ropeTheta: number;
  headDim: number;
  contextLength: number;
}

/** A check of settings: whether it holds, the rule, and what there is instead. */
export type RopeRule = readonly [holds: boolean, rule: string, got: unknown];

/** A way to stretch rotary positions to a longer context. */
export interface RopeScalingKind<S> {
  /** As `rope_type` of config.json says it. */
  readonly name: string;
  readonly words: string;
  read(keys: ConfigKeys, shape: RopeShape): S;
  /** The keys of config.json that `read` reads. */
  write(settings: S): Record<string, unknown>;
  rules(settings: S, shape: RopeShape): readonly RopeRule[];
  /** Radians per position of each pair, from those that nothing stretches. */
  frequencies(plain: Float32Array, settings: S, shape: RopeShape): Float32Array;
  /** What cosines and sines are multiplied by. Default: 1. */
  magnitude?(settings: S): number;
  /**
   * The keys below `rope.scaling` that say it in a GGUF file; undefined where llama.cpp computes something else by
   * them. A kind without it has its factors in a tensor, or none in such files.
   */
  gguf?(settings: S): Record<string, string | number> | undefined;
}

/** Keeps the settings' own type. */
export const defineRopeScaling = <S>(kind: RopeScalingKind<S>): RopeScalingKind<S> => kind;

/** The rule of every factor. */
export const factorRule = (factor: number): RopeRule => [
  factor >= 1 && factor < Infinity,
  "factor must be at least 1",
  factor,
];

/** The rule of every trained context. */
export const contextRule = (originalContext: number): RopeRule => [
  originalContext > 0,
  "originalContext must be positive",
  originalContext,
];
