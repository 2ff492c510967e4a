import { checkArguments } from "../../arguments/check-arguments.js";
import { ceGppoLoss } from "./ce-gppo.js";
import { cispoLoss } from "./cispo.js";
import { clipCovLoss } from "./clip-cov.js";
import { dppoKlLoss, dppoTvLoss } from "./dppo.js";
import { droLoss } from "./dro.js";
import { futureKlLoss } from "./future-kl.js";
import { geoMeanLoss } from "./geo-mean.js";
import { gpgLoss } from "./gpg.js";
import { gspoLoss } from "./gspo.js";
import { gspoTurnLoss } from "./gspo-turn.js";
import { klCovLoss } from "./kl-cov.js";
import type { LossName } from "./loss-names.js";
import { policyLoss } from "./policy-loss.js";
import type { NamedLoss } from "./policy-loss-types.js";
import { sapoLoss } from "./sapo.js";
import { turnLoss } from "./turn.js";

/** Refuses what plain JavaScript may hand over. */
const checked =
  (loss: NamedLoss): NamedLoss =>
  (input, options = {}) => {
    checkArguments(
      "compute a loss",
      { input, options },
      {
        input: { logprobs: "tensor", oldLogprobs: "tensor", advantages: "tensor", mask: "tensor" },
        options: "object",
      },
    );
    return loss(input, options);
  };

/**
 * Every loss by name: a differentiable scalar and its figures, from log-probabilities, advantages and a
 * mask. `update` and the configuration choose among these (`loss`, `policy_loss.loss_mode`).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { losses } from "arpo-lab/learn";
 * import { tf } from "arpo-lab/model";
 *
 * const row = (x: number) => tf.fill([1, 1], x);
 * const input = { oldLogprobs: row(-2), advantages: row(1), mask: row(1) };
 * const slope = (name: "vanilla" | "cispo" | "gpg") =>
 *   tf.grad((logprobs) => losses[name]({ ...input, logprobs }).loss)(row(-1)).dataSync()[0] + 0;
 * assert.equal(slope("vanilla"), 0); // ratio e is above 1.2: PPO drops the token,
 * assert.ok(Math.abs(slope("cispo") + 1.2) < 1e-6); // CISPO weighs it by the bound,
 * assert.equal(slope("gpg"), -1); // GPG looks at no ratio
 * ```
 */
export const losses: Readonly<Record<LossName, NamedLoss>> = {
  vanilla: policyLoss,
  gspo: gspoLoss,
  cispo: checked(cispoLoss),
  sapo: checked(sapoLoss),
  clip_cov: checked(clipCovLoss),
  kl_cov: checked(klCovLoss),
  geo_mean: checked(geoMeanLoss),
  gpg: checked(gpgLoss),
  dro: checked(droLoss),
  dppo_tv: checked(dppoTvLoss),
  dppo_kl: checked(dppoKlLoss),
  ce_gppo: checked(ceGppoLoss),
  gspo_turn: checked(gspoTurnLoss),
  turn: checked(turnLoss),
  future_kl: checked(futureKlLoss),
};
