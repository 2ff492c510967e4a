import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../config/load.js";
import { advantageOptions } from "./options.js";

test("what single estimators are told reaches them under their options' names", async () => {
  const { config } = await loadConfig({
    overrides: [
      "algorithm.adv_estimator=treerl",
      "lab.credit.treerl.rule=paper",
      "lab.credit.treerl.punish_cut=false",
      "lab.credit.tree_grpo.form=tree_2norm",
      "lab.credit.gigpo.episode_baseline=trajectory",
      "lab.seed=9",
    ],
  });
  const options = advantageOptions(config);
  assert.equal(options.estimator, "treerl");
  assert.equal(options.treerl?.rule, "paper");
  assert.equal(options.treerl?.punishCut, false);
  assert.equal(options.treerl?.seed, 9);
  assert.equal(options.treerl && "leaves" in options.treerl, false); // null is unset
  assert.equal(options.treeGrpo?.form, "tree_2norm");
  assert.equal(options.gigpo?.episodeBaseline, "trajectory");
});

test("the configuration's defaults are the functions' own", async () => {
  const { config } = await loadConfig({});
  const { treeGrpo, at2po, treerl, treepo, fr3e, gigpo, turnBaseline, appo } =
    advantageOptions(config);
  assert.deepEqual(
    [treeGrpo?.form, treeGrpo?.loneRow, at2po?.value, at2po?.advantage, at2po?.normalizeLeaves],
    ["tree", "zero", "child_softmax", "node_value", true],
  );
  assert.deepEqual([treerl?.rule, treerl?.weights, treerl?.bonus], ["code", "sqrt", "state"]);
  assert.deepEqual([treepo?.form, treepo?.weights], ["tree", "average"]);
  assert.deepEqual([fr3e?.value, fr3e?.sharpen], ["positive-share", true]);
  assert.deepEqual([gigpo?.episodeBaseline, turnBaseline?.baseline], ["step", "padded"]);
  assert.equal(appo?.rewardScaleDiscount, 0.9);
});
