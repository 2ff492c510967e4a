import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { TrainingBatch, type BatchSequence } from "../../learn/batch.js";
import { actorLoss } from "../../learn/losses/losses.js";
import { klKinds } from "../../learn/losses/base/options.js";
import { lossNames, lossOf } from "../../learn/losses/registry.js";
import { UpdateReport } from "../../learn/update/update-report.js";
import { tf } from "../../tensor/tf.js";
import { sampleReport } from "../testing/sample-report.js";
import { type Algorithm, algorithms, type AlgorithmName } from "./algorithms.js";
import { criticValues, laidBy } from "./make-payload.js";
import { explain } from "./explain.js";
import { readBatch } from "./page/read-batch.js";
import { tokenTerms, type TokenTerms } from "./page/token-terms.js";
import { tokenWords } from "./page/start-explain.js";
import type { ExplainPayload, ObjectiveSettings } from "./payload.js";

type Tensor = InstanceType<typeof tf.Tensor>;

/** Trajectories side by side, as the library's losses read them. */
function matrix(
  rows: readonly BatchSequence[],
  pick: (row: BatchSequence) => ArrayLike<number>,
): Tensor {
  const width = Math.max(...rows.map(({ trajectory }) => trajectory.tokens.length));
  const out = new Float32Array(rows.length * width);
  rows.forEach((row, r) => {
    for (let t = 0; t < row.trajectory.tokens.length; t++) {
      out[r * width + t] = row.trajectory.lossMask[t] ? pick(row)[t]! : 0;
    }
  });
  return tf.tensor2d(out, [rows.length, width]);
}

/** Loss and slope of every token by the library, with the advantages of a batch. */
function library(batch: TrainingBatch, settings: ObjectiveSettings) {
  const { trajectories: rows } = batch;
  const input = {
    oldLogprobs: matrix(rows, (row) => row.oldLogprobs!),
    advantages: matrix(rows, (row) => row.advantages),
    mask: matrix(rows, (row) => row.trajectory.lossMask),
    entropies: matrix(rows, (row) => row.entropies!),
    refLogprobs: matrix(rows, (row) => row.refLogprobs!),
  };
  const lossOf = (logprobs: Tensor) => actorLoss({ ...input, logprobs }, settings).loss;
  const logprobs = matrix(rows, (row) => row.newLogprobs!);
  const [width] = logprobs.shape.slice(1);
  const slopes = tf.grad(lossOf)(logprobs).dataSync();
  return {
    loss: lossOf(logprobs).dataSync()[0]!,
    slope: (r: number, t: number) => slopes[r * width! + t]!,
  };
}

/** A report as an update leaves it, with what only a model could have given made up. */
async function fullReport(settings: ObjectiveSettings = {}): Promise<UpdateReport> {
  const report = await sampleReport(settings);
  for (const row of report.batch.trajectories) {
    row.entropies = row.trajectory.entropies.map((h) => (Number.isNaN(h) ? 0.1 : h));
    row.refLogprobs = row.newLogprobs!.map((now, t) => now - 0.3 * Math.sin(t));
  }
  return report;
}

function agrees(
  batch: TrainingBatch,
  settings: ObjectiveSettings,
  termsOf: (row: number, token: number) => TokenTerms,
): number {
  const { loss, slope } = library(batch, settings);
  let sum = 0;
  let tokens = 0;
  batch.trajectories.forEach(({ trajectory }, r) => {
    trajectory.lossMask.forEach((trained, t) => {
      if (!trained) return;
      tokens++;
      const terms = termsOf(r, t);
      sum += terms.share * (terms.loss + (terms.beta === 0 ? 0 : terms.beta * terms.kl));
      const expected = slope(r, t);
      const message = `trajectory ${r}, token ${t}: ${terms.push} instead of ${expected}`;
      assert.ok(Math.abs(terms.push - expected) < 1e-6 + 2e-5 * Math.abs(expected), message);
    });
  });
  assert.ok(Math.abs(sum - loss) < 1e-5 + 1e-4 * Math.abs(loss), `${sum} instead of ${loss}`);
  return tokens;
}

for (const name of Object.keys(algorithms) as AlgorithmName[]) {
  test(`explain() gives the library's loss and gradient for ${name}`, async () => {
    const report = await fullReport();
    const explanation = explain(report);
    const { advantage, settings, against }: Algorithm = algorithms[name];
    const laid = laidBy(report.batch, report.batch.scored!, advantage, against);
    laid.trajectories.forEach((row, r) => {
      const { oldLogprobs, newLogprobs, refLogprobs, entropies } = report.batch.trajectories[r]!;
      Object.assign(row, { oldLogprobs, newLogprobs, refLogprobs, entropies });
    });
    const tokens = agrees(laid, settings, (r, t) => explanation.token(r, t, name));
    assert.ok(tokens > 100);
  });
}

test("explain() gives the library's loss and gradient with every kind of KL and aggregation", async () => {
  const aggregations = ["seq-mean-token-sum", "seq-mean-token-mean", "token-mean"] as const;
  for (const [i, klLossKind] of klKinds.entries()) {
    const settings: ObjectiveSettings = {
      ...{ klLossKind, klLossCoefficient: 0.3, clipRatio: 0.1, clipRatioC: 1.5 },
      ...{ aggregation: aggregations[i % 3], entropyBalancedClipping: i % 2 === 1 },
    };
    const report = await fullReport(settings);
    const explanation = explain(report);
    agrees(report.batch, settings, (r, t) => explanation.token(r, t));
  }
});

const balanced = { entropyBalancedClipping: true };
const named = lossNames.map((loss): ObjectiveSettings => ({ loss, droBeta: 0.5 }));
for (const settings of [
  ...[{}, { ...balanced, loss: "gspo" }, balanced],
  ...named,
] as ObjectiveSettings[]) {
  test(`explain() and UpdateReport.tokens() say the same of every token: ${JSON.stringify(settings)}`, async () => {
    const report = await fullReport(settings);
    const explanation = explain(report);
    const ratios = report.batch.trajectories.map((row, r) =>
      report.tokens(row).flatMap((token, t) => {
        if (!token) return [];
        const terms = explanation.token(r, t);
        assert.ok(Math.abs(token.ratio / terms.ratio - 1) < 1e-6, `${token.ratio}, ${terms.ratio}`);
        assert.equal(token.region, terms.region);
        assert.ok(Math.abs(token.weight - terms.weight) < 1e-5);
        assert.ok(Math.abs((token.hold ?? 0) - terms.hold) < 1e-5);
        return [token.ratio];
      }),
    );
    assert.ok(ratios.flat().some((ratio) => Math.abs(ratio - 1) > 0.1));
    const alike = ratios.every((row) => new Set(row).size === 1);
    const { ratioOf } = lossOf(settings);
    assert.equal(alike, ratioOf === "row");
  });
}

test("explain() quotes lines that are in the library, where it says", async () => {
  const { algorithms: shown } = explain(await fullReport()).payload;
  const lines = shown.flatMap((algorithm) => algorithm.lines.flatMap(({ code }) => code));
  assert.ok(lines.length > 100);
  for (const { file, line, code } of lines) {
    const path = fileURLToPath(new URL(`../../../../${file}`, import.meta.url));
    const bare = (text: string) => text.replace(/\s+/g, "");
    const [first, ...rest] = readFileSync(path, "utf8")
      .split("\n")
      .slice(line - 1)
      .map(bare);
    const at = (first + rest.join("")).indexOf(bare(code));
    assert.ok(at >= 0 && at < first!.length, `${file}:${line}: ${code}`);
  }
});

test("explain() carries numbers to its page that the page reads as they were", async () => {
  const report = await fullReport();
  const explanation = explain(report);
  const payload = JSON.parse(JSON.stringify(explanation.payload)) as ExplainPayload;
  const batch = readBatch(payload);
  const said = new Set<string>();
  report.batch.trajectories.forEach((row, r) => {
    report.tokens(row).forEach((update, t) => {
      if (!update) return;
      const algorithm = payload.algorithms.find(({ name }) => name === "own")!;
      const at = payload.rows[r]!.start + t;
      const terms = tokenTerms(batch.input(at, algorithm), algorithm);
      assert.ok(Math.abs(terms.ratio - update.ratio) < 1e-9);
      assert.equal(terms.region, update.region);
      assert.ok(Math.abs(terms.weight - update.weight) < 1e-9);
      said.add(`${update.region}: ${tokenWords(terms, lossOf(algorithm.settings)).slice(0, 30)}`);
    });
  });
  assert.ok(said.size >= 4);
});

test("REINFORCE is given the score itself, and a critic what the trajectories with the same tokens scored", async () => {
  const { batch } = await fullReport();
  const explanation = explain(batch);
  const { values, learned } = criticValues(batch);
  assert.equal(learned, false);
  const forks = new Set<number>();
  batch.trajectories.forEach(({ trajectory, reward, group }, r) => {
    const first = trajectory.lossMask.indexOf(1);
    const { advantage } = explanation.token(r, first, "reinforce");
    assert.ok(Math.abs(advantage - reward) < 1e-6);
    const others = batch.trajectories.filter((row) => row.group === group);
    const mean = others.reduce((sum, row) => sum + row.reward, 0) / others.length;
    assert.ok(Math.abs(values[r]![0]! - mean) < 1e-9);
    // A trajectory's last token is its own alone, unless another trajectory is the same to its end.
    const same = batch.trajectories.filter(
      (row) => row.trajectory.nodes.join() === trajectory.nodes.join() && row.group === group,
    );
    if (same.length === 1) assert.ok(Math.abs(values[r]!.at(-1)! - reward) < 1e-9);
    values[r]!.forEach((value, t) => {
      if (t > 0 && value !== values[r]![t - 1]) forks.add(t);
    });
  });
  assert.ok(forks.size > 1);
  const given = new TrainingBatch(
    batch.trajectories.map((row) => ({ ...row, values: row.advantages.map(() => 0.5) })),
    batch.estimator,
    batch.scored,
  );
  assert.deepEqual(criticValues(given).values[0]![0], 0.5);
});

test("explain() knows which trajectories share a token", async () => {
  const report = await fullReport();
  const explanation = explain(report);
  const batch = readBatch(explanation.payload);
  const shared = report.batch.trajectories.map((_, r) =>
    batch.sharing(explanation.payload.rows[r]!.start),
  );
  assert.ok(shared.some((rows) => rows.length > 1));
  for (const places of shared) {
    assert.equal(new Set(places.map((place) => batch.tokens[place])).size, 1);
  }
});

test("explain() takes a batch that was not updated, and refuses what it cannot explain", async () => {
  const { batch } = await fullReport();
  const bare = new TrainingBatch(
    batch.trajectories.map(({ trajectory, group, reward, advantages: own, returns }) => ({
      ...{ trajectory, group, reward, returns, advantages: own },
    })),
    batch.estimator,
    batch.scored,
  );
  const explanation = explain(bare, { algorithm: "grpo" });
  assert.equal(explanation.token(0, 0).ratio, 1);
  assert.throws(() => explanation.token(0, 0, "none"), /must be one of own, grpo/);
  assert.throws(() => explanation.token(0, 1e6), /the model must have written it/);
  assert.throws(() => explain(new TrainingBatch([], "grpo")), /a trained token, got none/);
});

test("explain() gives one piece of HTML in which no text of the batch is code", async () => {
  const report = await fullReport();
  const [row] = report.batch.trajectories;
  const evil = { ...row!, group: "</script><script>alert(1)</script><!--" };
  const html = explain(new TrainingBatch([evil], "grpo")).html();
  assert.equal(html.match(/<script/g)!.length, 2);
  assert.equal(html.match(/<\/script>/g)!.length, 2);
  assert.doesNotMatch(html, /<!--|https?:/);
});
