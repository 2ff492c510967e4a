// Random cases against verl 0.9.1 and TRL 1.16: needs a Python with both (ARPO_LAB_LOSSES_PYTHON) and is skipped,
// saying so, where there is none. ARPO_LAB_SEED makes the cases of a printed seed again.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { Random } from "../../src/base/random/random.js";
import { estimators } from "../../src/learn/advantages.js";
import { klPenalty } from "../../src/learn/losses/base/kl.js";
import { klKinds, lossAggregations } from "../../src/learn/losses/base/options.js";
import { actorLoss, valueLoss } from "../../src/learn/losses/losses.js";
import { lossRegistry } from "../../src/learn/losses/registry.js";
import { plainEstimators } from "../../src/learn/estimators/registry.js";
import { tf } from "../../src/tensor/tf.js";
import { filled, fillers, type Matrix, type Tensor } from "../learn/masked/fillers.js";

const python = process.env["ARPO_LAB_LOSSES_PYTHON"] ?? "python3";
const count = 300;

interface Found {
  value: unknown;
  grad?: unknown;
  returns?: unknown;
  metrics?: Readonly<Record<string, number>>;
}
interface Case {
  asked: Readonly<Record<string, unknown>> & { kind: string; name: string };
  mask: Matrix;
  /** What the library makes of it, with something else wherever the mask is 0. */
  ours(): Found;
}

const verlLosses = lossRegistry.all.flatMap(({ name, verl }) => (verl ? [name] : []));
/** verl has no mean over prompts. */
const verlAggregations = lossAggregations.filter((mode) => mode !== "prompt-mean");
const verlEstimators = plainEstimators.flatMap((one) => ("verl" in one ? [one.name] : []));
/** TRL's names of what are losses and aggregations here. */
const trlLosses = {
  grpo: ["vanilla", "seq-mean-token-mean"],
  bnpo: ["vanilla", "token-mean"],
  dapo: ["vanilla", "token-mean"],
  dr_grpo: ["vanilla", "seq-mean-token-sum-norm"],
  cispo: ["cispo", "token-mean"],
  sapo: ["sapo", "seq-mean-token-mean"],
} as const;

function withGradient(at: Matrix, of: (x: Tensor) => Tensor): Found {
  const { value, grad } = tf.valueAndGrad((x: Tensor) => of(x).sum().asScalar())(tf.tensor2d(at));
  return { value: value.dataSync()[0]!, grad: grad.arraySync() };
}

function caseOf(random: Random): Case {
  const pick = <T>(list: readonly T[]): T => list[random.integer(list.length)]!;
  const [rows, time] = [2 + random.integer(4), 2 + random.integer(7)];
  const matrix = (of: () => number): Matrix =>
    Array.from({ length: rows }, () => Array.from({ length: time }, of));
  const normal = (scale: number) => matrix(() => scale * random.normal());
  const mask = matrix(() => Number(random.uniform() < 0.7));
  for (const row of mask) row[random.integer(time)] = 1;
  mask[0]!.splice(0, 2, 1, 1);
  const by = pick([...fillers, 0]);
  const hidden = (values: Matrix) => tf.tensor2d(filled(values, mask, by));
  const oldLogprobs = matrix(() => -3 * random.uniform());
  // Most tokens move a little; some far, some not at all.
  const logprobs = oldLogprobs.map((row) =>
    row.map((p) => p + pick([0, 0.1, 0.3, 3]) * random.normal()),
  );
  const refLogprobs = oldLogprobs.map((row) => row.map((p) => p + 0.3 * random.normal()));
  const advantages = normal(1);
  const given = { logprobs, oldLogprobs, refLogprobs, advantages, mask };
  // Not 0: at a bound PyTorch's clamp has a gradient in older versions and none in 2.15.
  const [low, high] = [pick([0.1, 0.2]), pick([0.2, 0.28])];
  const input = (x: Tensor) => ({
    ...{ logprobs: tf.where(tf.tensor2d(mask).greater(0), x, hidden(logprobs)) },
    ...{ oldLogprobs: hidden(oldLogprobs), refLogprobs: hidden(refLogprobs) },
    ...{ advantages: hidden(advantages), mask: tf.tensor2d(mask) },
  });
  switch (pick(["loss", "loss", "advantages", "kl", "value", "trl"])) {
    case "loss": {
      const name = pick(verlLosses);
      const mode = lossRegistry.get(name)!.ownAggregation
        ? lossRegistry.get(name)!.aggregation
        : pick(verlAggregations);
      // All candidates of Clip-Cov, as it draws them.
      const own = { clip_cov_ratio: 1, clip_cov_lb: 0, kl_cov_ratio: 0.3, dro_beta: 0.5 };
      const clip = { clip_ratio: 0.2, clip_ratio_low: low, clip_ratio_high: high };
      const asked = { kind: "loss", name, ...given };
      return {
        asked: { ...asked, options: { ...own, ...clip, clip_ratio_c: 3, loss_agg_mode: mode } },
        mask,
        ours() {
          const of = (x: Tensor) =>
            actorLoss(input(x), {
              ...{ loss: name as "vanilla", aggregation: mode, aggregationRule: "verl-0.9.1" },
              ...{ clipRatioLow: low, clipRatioHigh: high, clipRatioC: 3, droBeta: 0.5 },
              ...{ clipCovRatio: 1, clipCovLow: 0, klCovRatio: 0.3 },
            });
          const figures = Object.entries(of(tf.tensor2d(logprobs)).metrics);
          return {
            ...withGradient(logprobs, (x) => of(x).loss),
            metrics: Object.fromEntries(
              figures.map(([key, figure]) => [`actor/${key}`, figure.dataSync()[0]!]),
            ),
          };
        },
      };
    }
    case "trl": {
      const name = pick(Object.keys(trlLosses) as (keyof typeof trlLosses)[]);
      const [loss, aggregation] = trlLosses[name];
      const [beta, tauPositive, tauNegative] = [pick([0, 0.04]), 1, 1.05];
      // There a row has one advantage, CISPO has no lower bound, and a KL estimate is not cut at 10.
      const rowAdvantages = advantages.map((row) => row.map(() => row[0]!));
      const near = logprobs.map((row) => row.map((p) => p + 0.3 * random.normal()));
      return {
        asked: {
          ...{ kind: "trl", name, ...given, advantages: rowAdvantages, level: "token" },
          refLogprobs: near,
          options: { low, high, beta, tauPositive, tauNegative },
        },
        mask,
        ours: () =>
          withGradient(logprobs, (x) => {
            return actorLoss(
              { ...input(x), advantages: hidden(rowAdvantages), refLogprobs: hidden(near) },
              {
                ...{ loss, aggregation, clipRatioLow: name === "cispo" ? 1 : low },
                ...{ clipRatioHigh: high, clipRatioC: 1e9, aggregationRule: "verl-0.9.1" },
                ...(beta === 0 ? {} : { klLossCoefficient: beta }),
              },
            ).loss;
          }),
      };
    }
    case "advantages": {
      const name = pick(verlEstimators);
      const [gamma, lambda] = [pick([1, 0.9]), pick([1, 0.8])];
      const rewards = mask.map((row) =>
        row.map((_, t) => Number(t === row.lastIndexOf(1)) * random.normal()),
      );
      const values = normal(1);
      const groups = mask.map((_, i) => (name === "grpo_passk" ? 0 : i % 2));
      const baselines = mask.map(() => random.normal());
      const squares = oldLogprobs.map((row) => row.map((p) => Math.exp(p) * random.uniform()));
      return {
        asked: {
          ...{ kind: "advantages", name, rewards, mask, values, groups, baselines, gamma, lambda },
          ...{ oldLogprobs, squares },
        },
        mask,
        ours() {
          const estimate = estimators[name] as (
            input: object,
            options: object,
          ) => { advantages: Float64Array[]; returns: Float64Array[] };
          const seen = filled(values, mask, by);
          const distributions = {
            logprobs: filled(oldLogprobs, mask, by),
            squares: filled(squares, mask, by),
          };
          const found = estimate(
            { rewards, mask, values: seen, groups, baselines, distributions },
            { gamma, lambda },
          );
          const plain = (list: Float64Array[]) => list.map((row) => [...row]);
          return { value: plain(found.advantages), returns: plain(found.returns) };
        },
      };
    }
    case "kl": {
      const name = pick(klKinds);
      const whole = mask.map((row) => row.map(() => 1));
      return {
        asked: { kind: "kl", name, logprobs, refLogprobs },
        mask: whole,
        ours() {
          const of = (x: Tensor) => klPenalty(x, tf.tensor2d(refLogprobs), name);
          const { grad } = withGradient(logprobs, of);
          return { value: of(tf.tensor2d(logprobs)).arraySync(), grad };
        },
      };
    }
    default: {
      const [predictions, values, returns] = [normal(1), normal(1), normal(1)];
      const clipRange = pick([0.2, 0.5]);
      return {
        asked: { kind: "value", name: "value", predictions, values, returns, mask, clipRange },
        mask,
        ours: () =>
          withGradient(predictions, (x) => {
            const [old, target] = [hidden(values), hidden(returns)];
            const all = { predictions: x, values: old, returns: target, mask: tf.tensor2d(mask) };
            return valueLoss(all, { clipRange }).loss;
          }),
      };
    }
  }
}

/** Numbers in one list, those of tokens where the mask counts them. */
const numbers = (found: unknown, mask: Matrix): number[] =>
  typeof found === "number"
    ? [found]
    : (found as Matrix).flatMap((row, i) => row.filter((_, t) => mask[i]![t]));

test("random losses, KL estimates, critics and advantages are verl's and TRL's", (t) => {
  if (spawnSync(python, ["-c", "import verl, trl, torch, orjson"]).status !== 0) {
    t.skip(`${python} has no verl and TRL; set ARPO_LAB_LOSSES_PYTHON to one that has`);
    return;
  }
  const seed = Number(process.env["ARPO_LAB_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`seed ${seed}`);
  const random = Random.from(seed);
  const cases = Array.from({ length: count }, () => caseOf(random));
  const { status, stdout, stderr } = spawnSync(python, ["tests/python/check_losses.py"], {
    ...{ encoding: "utf8", maxBuffer: 1 << 28 },
    env: { ...process.env, TORCHDYNAMO_DISABLE: "1" },
    input: JSON.stringify(cases.map(({ asked }) => asked)),
  });
  assert.equal(status, 0, stderr.slice(-2000));
  const answers = stdout.trimEnd().split("\n");
  assert.equal(answers.length, count);
  const table = new Map<string, { cases: number; apart: number }>();
  const wrong: string[] = [];
  cases.forEach(({ asked, mask, ours }, i) => {
    const theirs = JSON.parse(answers[i]!.replaceAll("NaN", "null")) as Found;
    const found = ours();
    const name = `${asked.kind} ${asked.name}`;
    const line = table.get(name) ?? { cases: 0, apart: 0 };
    table.set(name, line);
    line.cases++;
    const pairs: [string, number, number][] = [];
    for (const what of ["value", "grad", "returns"] as const) {
      if (theirs[what] === undefined) continue;
      const [a, b] = [numbers(found[what], mask), numbers(theirs[what], mask)];
      a.forEach((x, k) => pairs.push([what, x, b[k]!]));
    }
    for (const [key, figure] of Object.entries(found.metrics ?? {})) {
      const other = theirs.metrics?.[key];
      if (other !== undefined) pairs.push([key, figure, other]);
    }
    for (const [what, a, b] of pairs) {
      const apart = Math.abs(a - b) / Math.max(1, Math.abs(b));
      line.apart = Math.max(line.apart, apart);
      if (!(apart < 2e-4)) wrong.push(`case ${i}, ${name}: ${what} is ${a}, there ${b}`);
    }
  });
  for (const [name, { cases: n, apart }] of [...table].sort()) {
    console.log(
      `${name.padEnd(42)} ${String(n).padStart(3)} cases, ${apart.toExponential(1)} apart`,
    );
  }
  assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} differ; seed ${seed}`);
});
