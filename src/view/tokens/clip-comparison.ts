import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { isTrained, type TrainingBatch } from "../../learn/batch.js";
import { type ClipOptions, clipBounds, clipRules } from "../../learn/losses/base/options.js";
import { UpdateReport } from "../../learn/update/update-report.js";
import { tokenPayload } from "./payload.js";
import {
  clipWords,
  TokenView,
  type TokenViewOptions,
  tokenViewRules,
  updatesOf,
} from "./token-view.js";

/**
 * PPO and AEPO side by side on the tokens of one updated batch, with the same ratios: which gradients
 * clipping drops, and which AEPO's entropy-balanced clipping keeps.
 *
 * @param batch a batch that an update trained on
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TrainingBatch } from "arpo-lab/learn";
 * import { clipComparison } from "arpo-lab/view";
 *
 * const view = clipComparison(new TrainingBatch([], "grpo"));
 * assert.match(view.summary, /AEPO keeps 0 of the 0 gradients that PPO drops/);
 * ```
 */
export function clipComparison(
  batch: TrainingBatch,
  options: TokenViewOptions & ClipOptions = {},
): TokenView {
  checkArguments("compare clipping", { batch }, { batch: { trajectories: "list" } });
  checkOptions("compare clipping", options, { ...tokenViewRules, ...clipRules });
  const { tokenizer, ...clip } = options;
  const bare = batch.trajectories.find((row) => !isTrained(row));
  if (bare) {
    throw new TypeError(
      `Cannot compare clipping: the batch must have been updated, got trajectory ${bare.trajectory.id} without log-probabilities`,
    );
  }
  const make = (entropyBalancedClipping: boolean) =>
    new UpdateReport({}, batch, { ...clip, entropyBalancedClipping }, 0);
  const [ppo, aepo] = [make(false), make(true)];
  const [before, after] = [updatesOf(ppo), updatesOf(aepo)];
  const lost = before.filter((update) => update.weight === 0).length;
  const kept = before.filter((update, i) => update.weight === 0 && after[i]!.weight !== 0).length;
  const { high } = clipBounds(clip);
  const summary = [
    clipWords("PPO", before),
    clipWords("AEPO", after),
    `AEPO keeps ${kept} of the ${lost} gradients that PPO drops, each with weight ${high}.`,
  ];
  const reports = [
    { name: "PPO", report: ppo },
    { name: "AEPO", report: aepo },
  ];
  return new TokenView(tokenPayload(batch, reports, summary, tokenizer));
}
