import * as exact from "../../exact/index.js";
import type { TreeNode } from "../tree/tree-values.js";

/**
 * What is measured at a token: the entropy of the full distribution, that of its most likely tokens alone
 * (not renormalised, as ARPO and APPO read it off their engines), or the surprisal of the token drawn.
 */
export type EntropySignal = "entropy" | "top-k" | "surprisal";

export const entropySignals: readonly EntropySignal[] = ["entropy", "top-k", "surprisal"];

/** The signal at one token of a node, in nats; NaN where nobody said. */
export function signalAt(
  { entropies, logprobs, top }: TreeNode,
  at: number,
  { signal = "entropy", topK = 10 }: { signal?: EntropySignal; topK?: number },
): number {
  if (signal === "entropy") return entropies[at] ?? NaN;
  if (signal === "surprisal") return -(logprobs[at] ?? NaN);
  if (!top || top.width === 0) return NaN;
  let sum = 0;
  for (let k = 0; k < Math.min(topK, top.width); k++) {
    const l = top.logprobs[at * top.width + k]!;
    if (l > -Infinity) sum -= exact.exp(l) * l;
  }
  return Math.max(0, sum);
}
