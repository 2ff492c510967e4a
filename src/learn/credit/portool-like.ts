import { checkArguments } from "../../arguments/check-arguments.js";
import { mean } from "../advantage/estimator.js";
import { childrenOf, leafSums, pathSpans, type TreeInput } from "./credit-tree.js";
import { Credit, short } from "./credit.js";
import { normTerm, sampleNorm } from "./group-norm.js";

export interface PortoolLikeOptions {
  /** What the comparison at the fork counts; the rest is the whole row's. Default: 0.5. */
  forkShare?: number;
  epsilon?: number;
}

/**
 * An experiment after PORTool, whose weights, decay and normalisation are not published: this is **not**
 * PORTool. A segment gets what its rows end like against its siblings at the fork, blended with the whole
 * row against the rows of the prompt.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { portoolLike } from "arpo-lab/learn";
 *
 * const nodes = [
 *   { parent: -1, tokens: 0 },
 *   { parent: 0, tokens: 1, score: 1 },
 *   { parent: 0, tokens: 1, score: 0 },
 * ];
 * const input = { tree: { nodes }, leaves: [1, 2], mask: [[1], [1]] };
 * assert.equal(portoolLike(input, { forkShare: 1 }).advantages[0][0], 0.5);
 * ```
 */
export function portoolLike(input: TreeInput, options: PortoolLikeOptions = {}): Credit {
  checkArguments(
    "estimate advantages",
    { input, options },
    { input: { tree: "object", leaves: "list", mask: "list" }, options: "object" },
  );
  const { forkShare = 0.5, epsilon = 1e-6 } = options;
  if (!(forkShare >= 0 && forkShare <= 1)) {
    throw new RangeError(
      `Cannot use portool_like: forkShare must be from 0 to 1, got ${forkShare}`,
    );
  }
  const { tree, leaves, mask } = input;
  const { sum, count } = leafSums(tree);
  const worth = sum.map((s, node) => s / count[node]!);
  const children = childrenOf(tree);
  const rewards = leaves.map((leaf) => tree.nodes[leaf]!.score!);
  const norm = sampleNorm(rewards);
  return new Credit(
    leaves.map((leaf, row) => {
      const whole = normTerm("the row among the prompt's", rewards[row]!, norm, epsilon);
      return pathSpans(tree, leaf, (node) => {
        const siblings = mean(children[tree.nodes[node]!.parent]!.map((one) => worth[one]!));
        return {
          terms: [
            {
              name: "the segment at its fork",
              value: forkShare * (worth[node]! - siblings),
              from: `${short(forkShare)} * (${short(worth[node]!)} - ${short(siblings)})`,
            },
            {
              ...whole,
              value: (1 - forkShare) * whole.value,
              from: `${short(1 - forkShare)} * ${whole.from}`,
            },
          ],
          factors: [],
        };
      });
    }),
    mask,
  );
}
