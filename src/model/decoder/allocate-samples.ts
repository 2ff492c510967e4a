import type { Sampled } from "./decoder.js";

/** Room for what a step of so many sequences chooses, each with its `top` most likely tokens. */
export const allocateSamples = (rows: number, top: number): Sampled => ({
  tokens: new Int32Array(rows),
  logprobs: new Float32Array(rows),
  entropies: new Float32Array(rows),
  topIds: new Int32Array(rows * top),
  topLogprobs: new Float32Array(rows * top),
});
