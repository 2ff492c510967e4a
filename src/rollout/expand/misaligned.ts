import { topEntropy, type Chain } from "./path-tokens.js";

/**
 * What APPO's published code takes for the log-probabilities and entropies of a row. Its list of what the
 * sampler returned has no entry for a tool's result, but is laid beside the response that has: from the
 * first result on, a token is paired with what belongs to a later one. A token that is not among that
 * entry's counts as certain, and so do those for which no entry is left.
 */
export function misaligned(chain: Chain): { logprobs: Float64Array; entropies: Float64Array } {
  const size = chain.length - chain.start;
  const logprobs = new Float64Array(size);
  const entropies = new Float64Array(size);
  const ids = chain.nodes.flatMap((node) => [...node.tokens]);
  let entry = 0;
  for (const node of chain.nodes) {
    if (node.kind !== "model") continue;
    for (let t = 0; t < node.tokens.length; t++, entry++) {
      entropies[entry] = topEntropy(node.top, t);
      logprobs[entry] = logprobOf(node, t, ids[entry]!);
    }
  }
  return { logprobs, entropies };
}

function logprobOf(node: Chain["nodes"][number], at: number, id: number): number {
  if (node.tokens[at] === id) return node.logprobs[at]!;
  const { top } = node;
  for (let k = 0; top && k < top.width; k++) {
    if (top.ids[at * top.width + k] === id) return top.logprobs[at * top.width + k]!;
  }
  return 0;
}
