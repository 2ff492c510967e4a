import assert from "node:assert/strict";
import { test } from "node:test";
import { advantages, creditEstimators } from "../../learn/advantages.js";
import { score } from "../../reward/score-trees.js";
import { sampleTree } from "../testing/sample-tree.js";
import { creditView } from "./credit-view.js";
import { readCredit } from "./page/start-credit.js";

const scoredSample = async (id = "sample") => {
  const tree = await sampleTree({ seed: 4 });
  return score(
    Object.assign(tree, { task: { ...tree.task, id } }),
    ({ length }) => (length % 3) / 2,
  );
};

test("creditView() carries every token's advantage under every rule, as advantages() gives it", async () => {
  const scored = await scoredSample();
  const { payload } = creditView(scored);
  const credit = readCredit(payload);
  let compared = 0;
  for (const estimator of creditEstimators) {
    const rule = payload.rules.findIndex(({ name }) => name === estimator);
    if (payload.rules[rule]!.missing !== undefined) continue;
    const { trajectories: rows } = advantages(scored, { estimator });
    rows.forEach(({ trajectory, advantages: given }, row) => {
      given.forEach((a, t) => {
        const shown = credit.valueAt(rule, row, t);
        if (!trajectory.lossMask[t]) assert.ok(Number.isNaN(shown));
        else
          assert.ok(
            Math.abs(shown - a) < 1e-4 * Math.max(1, Math.abs(a)),
            `${estimator} ${row} ${t}`,
          );
        compared++;
      });
    });
  }
  assert.ok(compared > 5000, `${compared} tokens`);
});

test("creditView() says what a tree lacks for a rule, in its words and on its picture", async () => {
  const view = creditView(await scoredSample(), { rules: ["grpo", "mt_grpo", "gae"] });
  assert.match(view.summary, /mt_grpo: turns must have rewards, got none/);
  assert.match(view.summary, /gae: .*must be one of grpo, rloo/);
  assert.match(view.picture(), /turns must have rewards/);
  assert.doesNotMatch(view.picture(), /NaN/);
  // Not by colour alone.
  assert.match(view.picture(), /rust with a dotted line: discouraged/);
  assert.match(view.picture(), /<path d="M[^"]+" class="arpo-less-line"/);
});

test("creditView() shows one task's tree, and as many of its trajectories as are asked", async () => {
  const scored = await scoredSample("a <b>");
  const { payload } = creditView(scored, { rules: ["grpo"], rows: 2 });
  assert.equal(payload.rows.length, 2);
  assert.match(payload.summary[0]!, /12 trajectories, 2 of them shown/);
  const html = creditView(scored, { rules: ["grpo"] }).html();
  assert.match(html, /Task a &#60;b/);
  assert.throws(() => creditView(scored, { group: "z" }), /group must be one of a <b>, got z/);
});
