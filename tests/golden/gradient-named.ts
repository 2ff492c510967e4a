// The losses by name against loops of their own. What a loss detaches is a number in its loop, taken at
// the point itself, so that differences of the loop are what the gradient should be.
import { type LossName, lossOf, type PolicyLossOptions } from "../../src/learn/losses/registry.js";
import { aggregateLoss } from "../../src/learn/losses/base/aggregate.js";
import { type LossAggregation, lossAggregations } from "../../src/learn/losses/base/options.js";
import { losses } from "../../src/learn/losses/losses.js";
import { Random } from "../../src/base/random/random.js";
import { tf } from "../../src/tensor/tf.js";
import type { GradientCase } from "./gradient-case.js";

type Tensor = InstanceType<typeof tf.Tensor>;
type Matrix = number[][];

const mask: Matrix = [
  [1, 1, 0, 1, 1, 1, 1, 0],
  [1, 1, 1, 1, 0, 0, 0, 0],
  [0, 0, 0, 0, 0, 0, 0, 0],
  [1, 1, 1, 0, 0, 1, 0, 1],
];
const random = Random.from(17);
const matrix = (name: string, low: number, high: number): Matrix => {
  const draws = random.split(name);
  return mask.map((row) => row.map(() => low + (high - low) * draws.uniform()));
};
const at = matrix("logprobs", -2.5, -0.1);
const old = matrix("old", -1.6, 1.6).map((row, r) => row.map((d, t) => at[r]![t]! - d));
// For ratios of trajectories and turns: nearer, so that some are inside the bounds.
const near = old.map((row, r) => row.map((v, t) => at[r]![t]! + 0.4 * (v - at[r]![t]!)));
/** At a sampler that was an older policy. */
const sampled = matrix("sampled", -0.9, 0.9).map((row, r) => row.map((d, t) => old[r]![t]! - d));
const advantages = matrix("advantages", -1.5, 1.5);
const weights = matrix("weights", 0.3, 1.7);
const t2 = (m: Matrix) => tf.tensor2d(m);

interface Place {
  /** The moved log-probability, and the one that is not moved. */
  x: number;
  at: number;
  old: number;
  a: number;
  r: number;
  t: number;
}
/** A token's loss; `rows` are the moved log-probabilities. */
type TokenLoop = (place: Place, rows: Matrix) => number;

const clip = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));
const dual = (a: number, c: number, worse: number) => (a < 0 ? Math.min(-a * c, worse) : worse);
const masked = (values: Matrix) => values.flatMap((row, r) => row.filter((_, t) => mask[r]![t]));
const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const covariances = at.map((row, r) =>
  row.map((v, t) => (advantages[r]![t]! - mean(masked(advantages))) * (v - mean(masked(at)))),
);
/** The places of a trajectory in the same run of ones as a token. */
function run(r: number, t: number): number[] {
  let [from, to] = [t, t];
  while (mask[r]![from - 1]) from--;
  while (mask[r]![to + 1]) to++;
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
const runMean = (values: Matrix, before: Matrix, r: number, t: number) =>
  mean(run(r, t).map((s) => values[r]![s]! - before[r]![s]!));

function dppo(by: "tv" | "kl"): TokenLoop {
  return ({ x, at: now, old: was, a }) => {
    const [p, q] = [Math.exp(now), Math.exp(was)];
    const kl = q * (was - now) + (1 - q) * Math.log((1 - q + 1e-8) / (1 - p + 1e-8));
    const valid =
      by === "tv"
        ? a > 0
          ? p - q <= 0.2
          : p - q >= -0.1
        : a > 0
          ? kl <= 0.2 || p <= q
          : kl <= 0.1 || p >= q;
    return valid ? -a * Math.min(Math.exp(now - was), 1.5) * x : 0;
  };
}

/** The factor that APPO's loss gives a token, from the log ratios at the point itself. */
function future(r: number, t: number): number {
  let sum = 0;
  for (let k = t; k < at[r]!.length; k++) {
    const log = at[r]![k]! - old[r]![k]!;
    if (mask[r]![k] && log <= Math.log(3)) sum += 2 ** (-(k - t) / 5) * log;
  }
  const factor = clip(Math.exp(sum), 0.7, 1.3);
  const unsafe = advantages[r]![t]! < 0 && Math.exp(at[r]![t]! - old[r]![t]!) > 2;
  return unsafe ? clip(factor, 0.8, 1) : factor;
}

const cov = { clipCovRatio: 0.3, clipCovLow: -0.5, clipCovHigh: 5 };
const chosen: Partial<Record<LossName, Matrix>> = {};
/** The tokens that a loss picked at the point itself; which they are is tested by the golden cases. */
function chosenBy(name: LossName, options: PolicyLossOptions): Matrix {
  const found = (chosen[name] ??= losses[name](
    { logprobs: t2(at), oldLogprobs: t2(old), advantages: t2(advantages), mask: t2(mask) },
    options,
  ).chosen!.arraySync() as Matrix);
  if (found.flat().every((x) => x === 0)) throw new Error(`${name} picks no token`);
  return found;
}

interface Case {
  options: PolicyLossOptions;
  before?: Matrix;
  loop: TokenLoop;
  /** The loss has one aggregation. */
  only?: LossAggregation;
  /** A correction's weights are in the loop. */
  unweighed?: true;
}

const rowMean = (values: Matrix, before: Matrix, r: number) => {
  const own = at[r]!.flatMap((_, t) => (mask[r]![t] ? [values[r]![t]! - before[r]![t]!] : []));
  return own.reduce((a, b) => a + b, 0) / Math.max(1, own.length);
};

/** prime-rl's loss, dropped where the probability has moved too far at the point itself. */
const prime =
  (reach: number, both: boolean): TokenLoop =>
  ({ x, at: now, a, r, t }) => {
    const move = Math.exp(now) - Math.exp(sampled[r]![t]!);
    const far = both ? Math.abs(move) > reach : a > 0 ? move > reach : move < -reach;
    const log = x - sampled[r]![t]!;
    return (far ? 0 : -Math.exp(log) * a) + 0.3 * log ** 2;
  };

/** A trajectory's ratio: forward its own, backward the token's. */
const ofRow = (r: number, x: number, now: number) => Math.exp(rowMean(at, near, r) + x - now);
const cases: Partial<Record<LossName, Case>> = {
  cispo: {
    options: { clipRatioLow: 0.3, clipRatioHigh: 0.5 },
    loop: ({ x, at: now, old: was, a }) => -clip(Math.exp(now - was), 0.7, 1.5) * a * x,
  },
  sapo: {
    options: { tauPositive: 1.5, tauNegative: 2 },
    loop: ({ x, old: was, a }) => {
      const tau = a > 0 ? 1.5 : 2;
      return (-a * 4) / tau / (1 + Math.exp(-tau * (Math.exp(x - was) - 1)));
    },
  },
  gpg: { options: {}, loop: ({ x, a }) => -a * x },
  dro: { options: { droBeta: 0.7 }, loop: ({ x, old: was, a }) => 0.35 * (x - was) ** 2 - a * x },
  dppo_tv: { options: { clipRatioLow: 0.1, clipRatioC: 1.5 }, loop: dppo("tv") },
  dppo_kl: { options: { clipRatioLow: 0.1, clipRatioC: 1.5 }, loop: dppo("kl") },
  clip_cov: {
    options: cov,
    loop: ({ x, old: was, a, r, t }) => {
      const ratio = Math.exp(x - was);
      const kept = 1 - chosenBy("clip_cov", cov)[r]![t]!;
      return kept * Math.max(-a * ratio, -a * clip(ratio, 0.8, 1.2));
    },
  },
  kl_cov: {
    options: { klCovRatio: 0.3, klCovCoefficient: 0.4 },
    loop: ({ x, old: was, a, r, t }) => {
      const sorted = masked(covariances).sort((p, q) => q - p);
      const held = mask[r]![t] && covariances[r]![t]! >= sorted[3]!;
      return -a * Math.exp(x - was) + (held ? 0.4 * Math.abs(x - was) : 0);
    },
  },
  ce_gppo: {
    options: { gppoLow: 0.6, gppoHigh: 0.9, clipRatioC: 2 },
    loop: ({ x, at: now, old: was, a }) => {
      const [fixed, ratio] = [Math.exp(now - was), Math.exp(x - was)];
      const bound = fixed < 0.8 && a < 0 ? 0.6 * 0.8 : fixed > 1.2 && a > 0 ? 0.9 * 1.2 : fixed;
      const plain = ((-bound * ratio) / fixed) * a;
      return a < 0 ? Math.min(plain, -a * 2) : plain;
    },
  },
  gspo_turn: {
    options: { clipRatio: 0.1 },
    before: near,
    loop: ({ x, at: now, a, r, t }) => {
      if (!mask[r]![t]) return 0;
      const ratio = Math.exp(runMean(at, near, r, t) + x - now);
      return Math.max(-a * ratio, -a * clip(ratio, 0.9, 1.1));
    },
  },
  turn: {
    options: { clipRatio: 0.1, clipRatioC: 1.2 },
    before: near,
    loop: ({ a, r, t }, rows) => {
      if (!mask[r]![t]) return 0;
      const ratio = Math.exp(runMean(rows, near, r, t));
      return dual(a, 1.2, Math.max(-a * ratio, -a * clip(ratio, 0.9, 1.1)));
    },
  },
  decoupled: {
    options: { staleUpper: 1.6, staleLower: 0.6, clipRatioC: 1.8 },
    loop: ({ x, old: was, a, r, t }) => {
      const weight = Math.exp(was - sampled[r]![t]!);
      const ratio = Math.exp(x - was);
      const kept = weight > 1.6 || weight < 0.6 ? 0 : weight;
      return kept * dual(a, 1.8, Math.max(-a * ratio, -a * clip(ratio, 0.8, 1.2)));
    },
  },
  prime_rl: { options: { samplerPull: 0.3 }, loop: prime(0.2, false) },
  prime_ipo: { options: { samplerPull: 0.3, primeReach: 0.15 }, loop: prime(0.15, true) },
  two_sided: {
    options: { ratioDelta: 1.7 },
    loop: ({ x, old: was, a }) => {
      const ratio = Math.exp(x - was);
      return Math.max(-a * Math.min(ratio, 1.7), -a * clip(ratio, 0.8, 1.2));
    },
  },
  luspo: {
    options: { clipRatio: 0.1, ratioDelta: 1.15 },
    before: near,
    only: "seq-mean-token-sum",
    loop: ({ x, at: now, a, r, t }) => {
      if (!mask[r]![t]) return 0;
      const ratio = ofRow(r, x, now);
      return Math.max(-a * Math.min(ratio, 1.15), -a * clip(ratio, 0.9, 1.1));
    },
  },
  vespo: {
    options: { vespoPowerPositive: 1.5 },
    before: near,
    unweighed: true,
    loop: ({ x, a, r }) => {
      const log = at[r]!.reduce((sum, v, t) => {
        return sum + mask[r]![t]! * (v - near[r]![t]! + Math.log(weights[r]![t]!));
      }, 0);
      const [power, fade] = a < 0 ? [3, 2] : [1.5, 3];
      return -Math.exp(fade + power * log - fade * Math.exp(log)) * a * x;
    },
  },
  future_kl: {
    options: { futureDecay: 5, futureClip: 0.3, futureWeight: 0.5, futureSafety: 2 },
    loop: ({ x, old: was, a: given, r, t }) => {
      const cut = at[r]!.filter(
        (v, s) => mask[r]![s] && advantages[r]![s]! < 0 && Math.exp(v - old[r]![s]!) > 3,
      );
      if (cut.length > 1) return 0;
      const a = given * (1 + 0.5 * future(r, t));
      const ratio = Math.exp(x - was);
      return dual(a, 3, Math.max(-a * ratio, -a * clip(ratio, 0.8, 1.2)));
    },
  },
};

/** GMPO is a loss of trajectories. */
function geoMeanLoop(x: Matrix): number {
  const each = x.map((row, r) => {
    const n = mask[r]!.reduce((a, b) => a + b, 0) + 1e-8;
    const sum = (of: (t: number) => number) =>
      row.reduce((total, _, t) => total + mask[r]![t]! * of(t), 0) / n;
    const exponent = sum((t) => {
      const [a, log] = [advantages[r]![t]!, row[t]! - near[r]![t]!];
      const within = clip(log, -0.2, 0.2);
      return a > 0 ? Math.min(log, within) : Math.max(log, within);
    });
    const weight = Math.exp(sum((t) => Math.log(weights[r]![t]! + 1e-10)));
    return -sum((t) => advantages[r]![t]!) * Math.exp(exponent) * weight;
  });
  return mean(each);
}

function caseOf(
  name: string,
  loss: (x: Tensor) => Tensor,
  loop: (x: Matrix) => number,
): GradientCase {
  const flat = at.flat();
  const width = at[0]!.length;
  const value = loss(t2(at)).dataSync()[0]!;
  // The loop must be the loss itself at the point, or its differences would say nothing of it.
  if (Math.abs(value - loop(at)) > 1e-9) throw new Error(`${name}: ${value}, not ${loop(at)}`);
  return {
    name,
    at: flat,
    analytic: [
      ...tf
        .grad((x: Tensor) => loss(x).asScalar())(t2(at))
        .dataSync(),
    ],
    moved: (i, to) =>
      tf.tidy(() => loop(at.map((row, r) => row.map((v, t) => (r * width + t === i ? to : v))))),
  };
}

/** Every loss by name, with every aggregation where it takes them, and under rollout weights. */
export function* namedCases(): Generator<GradientCase> {
  const input = (before: Matrix) => ({
    ...{ oldLogprobs: t2(before), advantages: t2(advantages), mask: t2(mask) },
    ...{ rolloutWeights: t2(weights), sampledLogprobs: t2(sampled) },
  });
  for (const [name, { options, before = old, loop, unweighed, ...one }] of Object.entries(cases)) {
    const { only = name === "sapo" || name === "gspo_turn" ? "seq-mean-token-mean" : undefined } =
      one;
    for (const aggregation of only ? [only] : lossAggregations) {
      // The trajectories that future-KL leaves out are left out of the counts too.
      const older = ["ce_gppo", "gspo_turn", "future_kl"].includes(name);
      const rule =
        older || (name === "turn" && aggregation !== "token-mean")
          ? "older"
          : lossOf({ loss: name as LossName }).rule === "trl"
            ? "trl"
            : "verl-0.9.1";
      const counted =
        name === "future_kl"
          ? mask.map((row, r) =>
              row.map((m, t) => {
                const [x, was, a] = [at[r]![t]!, old[r]![t]!, advantages[r]![t]!];
                return m * (loop({ x, at: x, old: was, a, r, t }, at) === 0 ? 0 : 1);
              }),
            )
          : mask;
      yield caseOf(
        `${name}, ${aggregation}`,
        (x) =>
          losses[name as LossName]({ ...input(before), logprobs: x }, { ...options, aggregation })
            .loss,
        (rows) => {
          const values = rows.map((row, r) =>
            row.map((x, t) => {
              const [now, was, a] = [at[r]![t]!, before[r]![t]!, advantages[r]![t]!];
              const weight = unweighed ? 1 : weights[r]![t]!;
              return loop({ x, at: now, old: was, a, r, t }, rows) * weight;
            }),
          );
          return aggregateLoss(t2(values), t2(counted), aggregation, { rule }).dataSync()[0]!;
        },
      );
    }
  }
  yield caseOf(
    "geo_mean",
    (x) => losses.geo_mean({ ...input(near), logprobs: x }, {}).loss,
    geoMeanLoop,
  );
}
