import { klPenalty } from "../../src/learn/losses/base/kl.js";
import type { PolicyLossOptions } from "../../src/learn/losses/registry.js";
import { actorLoss, losses, valueLoss } from "../../src/learn/losses/losses.js";
import { aggregateLoss } from "../../src/learn/losses/base/aggregate.js";
import {
  type KlKind,
  klKinds,
  lossAggregations,
  valueAggregations,
} from "../../src/learn/losses/base/options.js";
import { Random } from "../../src/base/random/random.js";
import { logProbEntropy } from "../../src/tensor/log-prob.js";
import { tf } from "../../src/tensor/tf.js";
import type { GradientCase } from "./gradient-case.js";

type Tensor = InstanceType<typeof tf.Tensor>;
type Matrix = number[][];

const rows = 3;
const time = 7;
const mask: Matrix = [
  [1, 1, 0, 1, 1, 1, 1],
  [1, 1, 1, 1, 0, 0, 0],
  [1, 1, 1, 1, 1, 1, 1],
];
const random = Random.from(3);
const matrix = (name: string, low: number, high: number): Matrix => {
  const draws = random.split(name);
  return mask.map((row) => row.map(() => low + (high - low) * draws.uniform()));
};
const logprobs = matrix("logprobs", -2, -0.1);
// Ratios from e^-1.6 to e^1.6: inside the bounds, beyond both of them and beyond the dual clip.
const old = matrix("old", -1.6, 1.6).map((row, r) => row.map((d, t) => logprobs[r]![t]! - d));
const ref = matrix("ref", -1, 1).map((row, r) => row.map((d, t) => logprobs[r]![t]! - d));
const advantages = matrix("advantages", -1.5, 1.5);
const entropies = matrix("entropies", 0.1, 2);
const t2 = (m: Matrix) => tf.tensor2d(m);

/** tfjs's gradient of a loss of one matrix beside the same loss moved by one element. */
function ofTensor(
  name: string,
  at: Matrix,
  loss: (x: Tensor) => Tensor,
  frozen: (x: Tensor) => Tensor = loss,
): GradientCase {
  const flat = at.flat();
  const shape: [number, number] = [at.length, at[0]!.length];
  const gradient = tf.grad((x: Tensor) => loss(x).asScalar())(tf.tensor2d(flat, shape));
  return {
    name,
    at: flat,
    analytic: [...gradient.dataSync()],
    moved: (i, to) => {
      const x = flat.map((v, j) => (i === j ? to : v));
      return tf.tidy(() => frozen(tf.tensor2d(x, shape)).dataSync()[0]!);
    },
  };
}

/**
 * The policy loss as a loop. What the shipped loss detaches is taken at the point itself, so that
 * differences of this function are what the gradient should be.
 */
function policyLoop(x: Matrix, options: PolicyLossOptions): Matrix {
  const { clipRatioLow = 0.2, clipRatioHigh = 0.2, clipRatioC = 3 } = options;
  const valid = entropies.flatMap((row, r) => row.filter((_, t) => mask[r]![t]));
  const mean = valid.reduce((a, b) => a + b) / valid.length;
  const deviation = Math.sqrt(valid.reduce((a, e) => a + (e - mean) ** 2, 0) / (valid.length - 1));
  return x.map((row, r) =>
    row.map((value, t) => {
      const factor = options.entropyBalancedAdvantage
        ? 1 + (0.2 * (entropies[r]![t]! - mean)) / deviation
        : 1;
      const a = advantages[r]![t]! * factor;
      const ratio = Math.exp(value - old[r]![t]!);
      const fixed = Math.exp(logprobs[r]![t]! - old[r]![t]!);
      const high = 1 + clipRatioHigh;
      const bounded = Math.max(ratio, 1 - clipRatioLow);
      const clipped = options.entropyBalancedClipping
        ? fixed > high
          ? (high / fixed) * ratio
          : bounded
        : Math.min(bounded, high);
      const worse = Math.max(-a * ratio, -a * clipped);
      return a < 0 ? Math.min(-a * clipRatioC, worse) : worse;
    }),
  );
}

/** The matrices must have tokens in every region, or some branch of the loss would not be looked at. */
function checkRegions(): void {
  const seen = new Set(
    logprobs.flatMap((row, r) =>
      row.flatMap((value, t) => {
        const ratio = Math.exp(value - old[r]![t]!);
        const region =
          ratio < 0.8 ? "below" : ratio <= 1.2 ? "inside" : ratio <= 3 ? "above" : "dual";
        return mask[r]![t] ? [`${region} ${advantages[r]![t]! > 0 ? "+" : "-"}`] : [];
      }),
    ),
  );
  for (const region of ["below +", "below -", "inside", "above +", "above -", "dual -"]) {
    if (![...seen].some((one) => one.startsWith(region))) throw new Error(`no token ${region}`);
  }
}

function policyCases(): GradientCase[] {
  checkRegions();
  const input = {
    oldLogprobs: t2(old),
    advantages: t2(advantages),
    mask: t2(mask),
    entropies: t2(entropies),
  };
  const kinds: Record<string, PolicyLossOptions> = {
    "PPO with dual clip": {},
    "PPO with bounds of its own": { clipRatioLow: 0.1, clipRatioHigh: 0.3, clipRatioC: 1.5 },
    "AEPO's clipping": { entropyBalancedClipping: true },
    "AEPO's advantage": { entropyBalancedAdvantage: true },
    "AEPO, both": { entropyBalancedClipping: true, entropyBalancedAdvantage: true },
  };
  return Object.entries(kinds).flatMap(([name, kind]) =>
    lossAggregations.map((aggregation) => {
      const options = { ...kind, aggregation };
      const loop = (x: Tensor) =>
        aggregateLoss(t2(policyLoop(x.arraySync() as Matrix, options)), t2(mask), aggregation);
      return ofTensor(
        `${name}, ${aggregation}`,
        logprobs,
        (x) => losses.vanilla({ ...input, logprobs: x }, options).loss,
        loop,
      );
    }),
  );
}

// Trajectories move together in GSPO: nearer, so that some of them are inside its bounds.
const near = old.map((row, r) =>
  row.map((v, t) => logprobs[r]![t]! + 0.5 * (v - logprobs[r]![t]!)),
);

/** GSPO as a loop over trajectories: one ratio each. */
function gspoLoop(x: Matrix): number {
  const each = x.map((row, r) => {
    const n = mask[r]!.reduce((a, b) => a + b);
    const ratio = Math.exp(
      row.reduce((sum, v, t) => sum + (v - near[r]![t]!) * mask[r]![t]!, 0) / n,
    );
    const a = advantages[r]![0]!;
    return Math.max(-a * ratio, -a * Math.min(1.2, Math.max(0.8, ratio)));
  });
  return each.reduce((a, b) => a + b) / rows;
}

/** Logits of a small vocabulary, so that entropy and log-probability have one source. */
function totalCases(): GradientCase[] {
  const vocabulary = 6;
  const draws = random.split("logits");
  const logits = Array.from({ length: rows * time }, () =>
    Array.from({ length: vocabulary }, () => 2 * draws.uniform() - 1),
  );
  const labels = tf.tensor1d(
    logits.map((_, i) => i % vocabulary),
    "int32",
  );
  const from = (x: Tensor) => {
    const found = logProbEntropy(x, labels, 0.7);
    return {
      logprobs: found.logprobs.reshape([rows, time]),
      entropies: found.entropies.reshape([rows, time]),
    };
  };
  const input = { advantages: t2(advantages), mask: t2(mask) };
  const before = from(t2(logits)).logprobs.sub<Tensor>(t2(old).sub(t2(logprobs)));
  return klKinds.map((kind) =>
    ofTensor(`total of policy, entropy bonus and KL ${kind}`, logits, (x) => {
      const { logprobs: now, entropies: spread } = from(x);
      return actorLoss(
        {
          ...input,
          logprobs: now,
          oldLogprobs: before,
          refLogprobs: t2(ref),
          entropies: spread,
        },
        { entropyCoefficient: 0.3, klLossCoefficient: 0.5, klLossKind: kind },
      ).loss;
    }),
  );
}

/** Every loss over matrices of tokens. */
export function* lossCases(): Generator<GradientCase> {
  yield* policyCases();
  const values = { values: t2(old), returns: t2(ref), mask: t2(mask) };
  for (const aggregation of lossAggregations) {
    yield ofTensor(`aggregation ${aggregation}`, advantages, (x) =>
      aggregateLoss(x.square(), t2(mask), aggregation),
    );
  }
  for (const aggregation of valueAggregations) {
    yield ofTensor(
      `value loss, ${aggregation}`,
      logprobs,
      (x) => valueLoss({ ...values, predictions: x }, { clipRange: 0.5, aggregation }).loss,
    );
  }
  yield ofTensor(
    "GSPO",
    logprobs,
    (x) =>
      losses.gspo({
        logprobs: x,
        oldLogprobs: t2(near),
        mask: t2(mask),
        advantages: t2(advantages.map((row) => row.map(() => row[0]!))),
      }).loss,
    (x) => tf.scalar(gspoLoop(x.arraySync() as Matrix)),
  );
  for (const kind of klKinds satisfies readonly KlKind[]) {
    yield ofTensor(`KL ${kind}`, logprobs, (x) =>
      klPenalty(x, t2(ref), kind).mul<Tensor>(t2(mask)).sum(),
    );
  }
  yield* totalCases();
}
