import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { estimatorNames } from "../learn/advantages.js";
import { lossNames } from "../learn/losses/registry.js";
import { presets } from "../run/presets.js";
import { branchRules, expansionRules } from "../rollout/rules/registry.js";
import { stages } from "./stages.js";

const named = (stage: string) => stages.find(({ name }) => name === stage)!;
const choices = (stage: string, option: string) =>
  named(stage)
    .options[option]!.type.split(" | ")
    .map((name) => JSON.parse(name) as string)
    .sort();

test("stage cells offer every method, rule, estimator and loss that a call takes", () => {
  const methods = Object.keys(presets).sort();
  for (const stage of ["rollout", "update"]) {
    assert.deepEqual(choices(stage, "preset"), methods, stage);
  }
  assert.deepEqual(choices("rollout", "rule"), [...branchRules, ...expansionRules].sort());
  assert.deepEqual(choices("update", "loss"), [...lossNames].sort());
  // A critic's values, greedy answers and whole distributions are no part of a cell's batch.
  const own = estimatorNames.filter(
    (name) => !/^(gae|gae_older|remax|(tir_)?optimal_token_baseline)$/.test(name),
  );
  assert.deepEqual(choices("advantage", "estimator"), own.sort());
});

test("%%update's `correction` is the option that corrects for another sampler", () => {
  const { correction } = named("update").options;
  assert.deepEqual([correction?.type, correction?.as], ["boolean", "rolloutCorrection: {value}"]);
});

test("docs/stages.md has every stage, and what it makes", () => {
  const page = readFileSync(new URL("../../../docs/stages.md", import.meta.url), "utf8");
  for (const { name, into } of stages) {
    assert.match(page, new RegExp(`^\\| .%%${name}. .*\\| .${into}. `, "m"));
  }
});
