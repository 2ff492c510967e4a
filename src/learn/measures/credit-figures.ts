import { checkArguments } from "../../arguments/check-arguments.js";
import type { TrainingBatch } from "../batch.js";

/** How much of a batch says anything, and how finely. */
export interface CreditFigures {
  /** Mean size of the advantage of a trained token: 0 where no row differs from its like. */
  informativeMass: number;
  /** Deviation of the advantages inside a row, mean over rows: 0 where a row has one for all tokens. */
  creditSpread: number;
}

/**
 * What the advantages of a batch are like: how large, and how much they tell a row's tokens apart.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { advantages } from "arpo-lab/learn";
 * import { creditFigures } from "arpo-lab/experimental/family";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = new ScriptedPolicy(({ sequence }) => ({ text: `${sequence % 2}\u0001` }));
 * const tree = await rollout(policy, { prompt: "0 or 1?" }, { n: 2 });
 * const scored = await score(tree, ({ response }) => Number(response));
 * const { informativeMass, creditSpread } = creditFigures(advantages(scored));
 * assert.ok(Math.abs(informativeMass - Math.SQRT1_2) < 1e-5); // every token of both rows
 * assert.equal(creditSpread, 0); // GRPO: one advantage a row
 * ```
 */
export function creditFigures(batch: Pick<TrainingBatch, "rows">): CreditFigures {
  checkArguments("measure credit", { batch }, { batch: { rows: "list" } });
  let [mass, tokens, spread, rows] = [0, 0, 0, 0];
  for (const { trajectory, advantages } of batch.rows) {
    const own = Array.from(advantages).filter((_, t) => trajectory.lossMask[t]);
    if (own.length === 0) continue;
    const mean = own.reduce((a, b) => a + b, 0) / own.length;
    mass += own.reduce((sum, a) => sum + Math.abs(a), 0);
    tokens += own.length;
    // Equal advantages differ by nothing, whatever their mean rounds to.
    if (own.some((a) => a !== own[0])) {
      spread += Math.sqrt(own.reduce((sum, a) => sum + (a - mean) ** 2, 0) / own.length);
    }
    rows++;
  }
  return {
    informativeMass: tokens === 0 ? 0 : mass / tokens,
    creditSpread: rows === 0 ? 0 : spread / rows,
  };
}
