import assert from "node:assert/strict";
import { test } from "node:test";
import { TrainingBatch } from "../../learn/batch.js";
import { CodePointTokenizer } from "../../rollout/testing/code-point-tokenizer.js";
import { grpoBatch } from "../testing/sample-batch.js";
import { sampleReport } from "../testing/sample-report.js";
import type { PackedNumbers } from "../page/pack.js";
import { clipComparison } from "./clip-comparison.js";
import { tokenView } from "./token-view.js";

const words = (data: string) => {
  const bytes = Buffer.from(data, "base64");
  return Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readUInt16LE(2 * i));
};
const numbers = ({ low, high, data }: PackedNumbers) =>
  words(data).map((step) => (step === 65535 ? NaN : low + (step * (high - low)) / 65534));

test("tokenView() carries what UpdateReport.tokens() says of every token", async () => {
  const report = await sampleReport();
  const tokenizer = new CodePointTokenizer();
  const { payload } = tokenView(report, { tokenizer });
  const [panel] = payload.panels;
  const regions = words(panel!.region).map((place) => payload.regions[place]);
  const weights = numbers(panel!.quantities.weight!);
  const ratios = numbers(panel!.quantities.ratio!);
  const texts = words(payload.tokens).map((place) => payload.vocabulary[place]);
  for (const [i, row] of report.batch.trajectories.entries()) {
    const { start, length } = payload.rows[i]!;
    const own = texts.slice(start, start + length).join("");
    assert.equal(own, tokenizer.decode(row.trajectory.tokens));
    report.tokens(row).forEach((update, t) => {
      assert.equal(regions[start + t], update?.region ?? "not trained");
      if (!update) return assert.ok(Number.isNaN(weights[start + t]));
      assert.ok(Math.abs(weights[start + t]! - update.weight) < 1e-3);
      assert.ok(Math.abs(ratios[start + t]! - update.ratio) < 1e-3);
      assert.equal(weights[start + t] === 0, update.weight === 0);
    });
  }
});

test("clipComparison() finds the gradients that PPO drops and AEPO keeps", async () => {
  const { batch } = await sampleReport();
  const view = clipComparison(batch, { clipRatioHigh: 0.3 });
  let dropped = 0;
  let kept = 0;
  for (const { trajectory, advantages, newLogprobs, oldLogprobs } of batch.trajectories) {
    trajectory.lossMask.forEach((trained, t) => {
      const ratio = Math.exp(newLogprobs![t]! - oldLogprobs![t]!);
      const above = advantages[t]! > 0 && ratio > 1.3;
      const below = advantages[t]! < 0 && (ratio < 0.8 || ratio > 3);
      dropped += Number(trained && (above || below));
      kept += Number(trained && above);
    });
  }
  assert.ok(kept > 0 && kept < dropped);
  assert.equal(
    view.payload.summary[2],
    `AEPO keeps ${kept} of the ${dropped} gradients that PPO drops, each with weight 1.3.`,
  );
  const [ppo, aepo] = view.payload.panels.map((panel) => numbers(panel.quantities.weight!));
  assert.equal(ppo!.filter((weight, i) => weight === 0 && aepo![i] !== 0).length, kept);
});

test("clipComparison() refuses a batch that was not updated", async () => {
  const { batch } = await grpoBatch();
  assert.throws(() => clipComparison(batch), /the batch must have been updated, got trajectory 0/);
});

test("tokenView() gives one piece of HTML in which no text of the batch is code", async () => {
  const report = await sampleReport();
  const [row] = report.batch.trajectories;
  const evil = { ...row!, group: "</script><script>alert(1)</script><!--" };
  const html = clipComparison(new TrainingBatch([evil], "grpo")).html();
  assert.equal(html.match(/<script/g)!.length, 2);
  assert.equal(html.match(/<\/script>/g)!.length, 2);
  assert.doesNotMatch(html, /<!--|https?:/);
});

test("clipComparison() begins with the trajectories in which PPO and AEPO differ, and marks those tokens", async () => {
  const { batch } = await sampleReport();
  const { trajectories: rows } = batch;
  const { payload } = clipComparison(new TrainingBatch([...rows].reverse(), "grpo"));
  const [ppo, aepo] = payload.panels.map((panel) => numbers(panel.quantities.weight!));
  const wanted = [...ppo!.keys()].filter((i) => !Number.isNaN(ppo![i]) && ppo![i] !== aepo![i]);
  assert.ok(wanted.length > 0);
  assert.deepEqual(payload.differs, wanted);
  const differs = payload.rows.map(({ start, length }) =>
    payload.differs.some((token) => token >= start && token < start + length),
  );
  assert.ok(differs.includes(false), "a trajectory without a difference");
  assert.deepEqual(
    differs,
    differs.toSorted((a, b) => Number(b) - Number(a)),
  );
  assert.equal(new Set(payload.rows.map(({ label }) => label)).size, rows.length);
});
