import { notNegative, positive } from "../../../../common/options/check-options.js";
import { key, option, unset } from "../../../../common/options/option-table.js";
import type { Tensor } from "../base/aggregate.js";
import { defineLoss, type LossOps, type LossView } from "../base/definition.js";
import * as f from "../base/formula.js";
import { policyLoss } from "../base/options.js";
import type { PolicyLossInput } from "../base/tensor-ops.js";

export const primeRlOptions = {
  /** prime-rl: the weight of the squared log ratio to the sampler. Default: 1e-3. */
  samplerPull: option(
    notNegative,
    1e-3,
    key(`${policyLoss}.sampler_pull`, "prime_rl, prime_ipo: weight of the squared log ratio"),
  ),
  /** prime-rl: how far a token's probability may move from the sampler's. Default: 0.2, of `prime_ipo` 0.1. */
  primeReach: unset(
    positive,
    key(
      `${policyLoss}.prime_reach`,
      "prime_rl, prime_ipo: how far a probability may move; none: 0.2, of prime_ipo 0.1",
    ),
  ),
};

type Settings = { samplerPull: number; primeReach?: number };

/** How far a probability may move: either way only where the advantage says so, or always. */
type By = "advantage" | "both";

const published = { advantage: 0.2, both: 0.1 } as const;

/** Where a token still counts: by how far its own probability has moved from the sampler's. */
function valid(input: PolicyLossInput, sampled: Tensor, options: Settings, by: By, ops: LossOps) {
  const { primeReach: reach = published[by] } = options;
  const move: Tensor = ops.detached(input.logprobs).exp().sub<Tensor>(sampled.exp());
  const [rising, falling] = [move.lessEqual(reach), move.greaterEqual(-reach)];
  if (by === "both") return rising.logicalAnd(falling);
  return ops.tf.where(input.advantages.greater(0), rising, falling);
}

const primeRlLoss = <const Name extends string>(
  by: By,
  name: Name,
  title: string,
  view: LossView,
) =>
  defineLoss({
    name,
    title,
    aggregation: "token-mean",
    rule: "verl-0.9.1",
    readsProbability: true,
    asks: "sampler",
    options: primeRlOptions,
    presets: { [name]: {} } as Record<Name, object>,
    views: { [name]: view } as Record<Name, LossView>,

    tensors(input, options, ops) {
      const { logprobs, oldLogprobs, advantages } = input;
      const sampled = input.sampledLogprobs ?? oldLogprobs;
      const logRatio = ops.boundedLogRatio({ ...input, oldLogprobs: sampled });
      const within = valid(input, sampled, options, by, ops);
      const gained: Tensor = logRatio.exp().mul(advantages).mul<Tensor>(within.cast("float32"));
      const pull: Tensor = logprobs.sub(sampled).square().mul(options.samplerPull);
      return {
        loss: ops.total(pull.sub(gained)),
        metrics: ops.figures(input, logRatio, { clipped: within.logicalNot() }),
      };
    },

    share(rows) {
      return (r, t) => {
        const { sampledLogprobs, oldLogprobs } = rows[r]!;
        return { sampled: (sampledLogprobs ?? oldLogprobs)[t]! };
      };
    },
    token({ advantage, logprob, oldLogprob }, { sampled = oldLogprob }, options) {
      const { primeReach: reach = published[by], samplerPull } = options;
      const logRatio = logprob - sampled;
      const ratio = Math.exp(logRatio);
      const move = Math.exp(logprob) - Math.exp(sampled);
      const [above, below] = [move > reach, move < -reach];
      const far = by === "both" ? above || below : advantage > 0 ? above : below;
      const weight = far ? 0 : ratio;
      const hold = 2 * samplerPull * logRatio;
      return {
        ...{ ratio, used: advantage, weight, hold },
        region: far ? (above ? "above" : "below") : "inside",
        loss: samplerPull * logRatio ** 2 - weight * advantage,
        terms: { sampled, divergence: move, logRatio, samplerPull },
      };
    },

    formula() {
      const sampled = f.symbol("sampled", f.log("sampler"));
      const divergence = f.symbol("divergence", f.sub(f.mi("D"), f.mi("t")));
      const pull = f.symbol("samplerPull", f.mi("κ"));
      const policy = (of: string) => f.sub(f.mi("π"), f.mi(of));
      const reach =
        by === "both"
          ? f.row(f.mo("|"), divergence, f.mo("|"), f.mo("≤"), f.mi("ε"))
          : f.row(divergence, f.mo("≤"), f.mi("ε"), "<mtext>, or down where A ≤ 0</mtext>");
      return [
        f.line(
          "Log ratio: the token's probability over that at its sampler",
          f.math(f.logRatio, f.equals, f.logprob, f.minus, sampled),
          "primeRlLoss.tensors.logRatio",
        ),
        f.line(
          "Divergence: how far the token's own probability has moved",
          f.math(divergence, f.equals, policy("θ"), f.minus, policy("sampler")),
          "valid.move",
        ),
        f.tokenLoss(
          f.row(
            ...[f.minus, f.call("exp", f.logRatio), f.times, f.given, f.times],
            `<msub><mn>1</mn>${reach}</msub>`,
            ...[f.plus, pull, `<msup>${f.row(f.logRatio)}<mn>2</mn></msup>`],
          ),
          ...["primeRlLoss.tensors.gained", "primeRlLoss.tensors.pull"],
        ),
      ];
    },
    gradient: { code: ["primeRlLoss.token.weight", "primeRlLoss.token.hold"], hold: true },
  });

/** prime-rl's default: the ratio to the sampler, as long as the probability moves no further than the bounds. */
export const primeRl = primeRlLoss("advantage", "prime_rl", "prime-rl", {
  label: "prime-rl",
  summary: "The ratio to the sampler, dropped where a probability has gone too far its way.",
});

/** prime-rl's IPO: the same with one bound for both ways. */
export const primeIpo = primeRlLoss("both", "prime_ipo", "prime-rl, IPO", {
  label: "prime-rl, IPO",
  summary: "The same, dropped where a probability has moved too far either way.",
});
