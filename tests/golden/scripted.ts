import type { Segment } from "../../src/policy/policy.js";

/** What a rollout case's generator returns for one generate call. */
export interface Script {
  text: string;
  finish: "stop" | "length";
  stop: string | null;
  logprobs: number[][];
}

/**
 * A segment of code points with a golden-case file's log-probabilities. They stay doubles: the code under
 * test only reads them, and the files ask for 1e-9.
 */
export function scriptedSegment(text: string, lists: readonly (readonly number[])[]): Segment {
  const tokens = Int32Array.from(text, (c) => c.codePointAt(0)!);
  const width = 10;
  const ids = new Int32Array(tokens.length * width).fill(-1);
  const top = new Float64Array(tokens.length * width).fill(-Infinity);
  const sampled = new Float64Array(tokens.length);
  for (const [at, list] of lists.entries()) {
    top.set(list.slice(0, width), at * width);
    // Ten or fewer entries include the sampled token; the eleventh is a sampled token beyond them.
    if (list.length <= width) ids[at * width] = tokens[at]!;
    sampled[at] = list.length > width ? list[width]! : (list[0] ?? -Infinity);
  }
  return {
    tokens,
    logprobs: sampled as unknown as Float32Array,
    entropies: new Float32Array(tokens.length),
    top: { width, ids, logprobs: top as unknown as Float32Array },
    finish: "length",
  };
}
