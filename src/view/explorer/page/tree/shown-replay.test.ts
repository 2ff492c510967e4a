import assert from "node:assert/strict";
import { test } from "node:test";
import { decideBranch } from "../../../../rollout/rules/decide-branch.js";
import { branchRules } from "../../../../rollout/rules/registry.js";
import type { ReplayAttempt } from "../../../../rollout/replay/replay-result.js";
import { sampleTree } from "../../../testing/sample-tree.js";
import { makePayload } from "../../make-payload.js";
import { decisionOf } from "./decisions.js";
import { ownSettings, replayOf } from "./shown-replay.js";
import { questionOf } from "./header-words.js";
import { unpackTree } from "./unpack-tree.js";

test("What if? at the rollout's own settings changes nothing", async () => {
  for (const rule of [...branchRules, "treerl", "at2po"] as const) {
    const isPlaced = rule === "treerl" || rule === "at2po";
    const own = isPlaced ? { n: undefined, initialRollouts: undefined, beamSize: 1 } : {};
    const tree = await sampleTree({ seed: 5, rule, ...own });
    const page = unpackTree(makePayload(tree));
    const settings = ownSettings(page);
    const same = { ...settings, changes: { probability: page.plan.settings.probability } };
    for (const whatIf of isPlaced ? [settings] : [settings, same]) {
      const { changed, ghosts, missing } = replayOf(page, whatIf);
      assert.deepEqual([changed, ghosts.length, missing.size], [false, 0, 0], rule);
    }
  }
});

test("What if? counts what tree.replay() counts: branches, new ones, and trajectories removed", async () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 8; seed++) {
    const tree = await sampleTree({ seed });
    const page = unpackTree(makePayload(tree));
    for (const probability of [0.05, 0.2, 0.6, 0.95]) {
      const { replay, ghosts, missing } = replayOf(page, {
        ...ownSettings(page),
        changes: { probability },
      });
      const expected = tree.replay({ probability });
      assert.equal(replay.branches, expected.branches);
      assert.equal(ghosts.length, expected.unseen);
      assert.deepEqual([...missing], expected.missing);
      seen.add([ghosts.length > 0, missing.size > 0].join());
    }
    const points = 3;
    const placed = replayOf(page, { rule: "treerl", changes: {}, expand: { points } });
    const expected = tree.replay({ rule: "treerl", expand: { points } });
    assert.equal(placed.replay.branches, expected.branches);
    assert.equal(placed.ghosts.length, expected.unseen);
  }
  assert.ok(seen.size >= 3, "some settings must add and some remove branches");
});

test("a decision is one sentence that is true of its numbers, for every rule", () => {
  const base = { probability: 0.5, weight: 0.2, threshold: 0.5, penaltySlope: 0.05 };
  for (const rule of branchRules) {
    for (let i = 0; i < 200; i++) {
      const settings = { rule, ...base };
      const u = (i % 20) / 20 + 0.013;
      const situation = { u, entropy: (i % 7) / 3, baseline: 0.4, consecutive: i % 3 };
      const verdict = decideBranch(settings, situation);
      const attempt: ReplayAttempt = {
        ...{ node: 0, trajectory: 0, round: 0, attempt: 0, remaining: 1, was: true },
        ...situation,
        ...verdict,
      };
      const { words, chance } = decisionOf(attempt, settings);
      const outcome = verdict.branch ? "branched" : "no branch";
      if (rule.endsWith("paper")) {
        assert.match(words, /^score [−\d.]+ against threshold 0\.50 → (branched|no branch)$/);
      } else {
        assert.match(words, /^probability [\d.]+, drew [\d.]+ → (branched|no branch)$/);
        // The sentence holds from one end for all: up to the probability it branches.
        assert.equal(chance!.draw <= chance!.probability, verdict.branch, `${rule}: ${words}`);
      }
      assert.ok(words.endsWith(`→ ${outcome}`), words);
    }
  }
});

test("the question is found in plain prompts and in chat templates", () => {
  const asked = "What is 6*7?";
  for (const prompt of [
    asked,
    `<|user|>${asked}<|assistant|>`,
    `<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n${asked}<|im_end|>\n<|im_start|>assistant\n<think>\n`,
    `[INST] ${asked} [/INST]`,
    `Solve it.\nQ: ${asked}`,
    `user\n${asked}\nassistant\n`,
  ]) {
    assert.equal(questionOf(prompt), asked);
  }
});
