import assert from "node:assert/strict";
import { test } from "node:test";
import { rollout } from "../rollout.js";
import { randomTextPolicy } from "../testing/random-text-policy.js";
import { settingsBesidesRule } from "../rules/settings.js";
import { branchOf } from "../rules/decide-branch.js";
import { expansionOf } from "../settings.js";
import { currentConfig } from "./current-config.js";
import { treesFromJsonl, treesToJsonl } from "./tree-jsonl.js";

const options = [
  { preset: "arpo", n: 2, compat: { resultBegin: 3 } },
  { preset: "grpo", n: 2 },
  { rule: "tree-grpo", expand: { trees: 1, keep: 2 } },
  { rule: "appo", n: 2, initialRollouts: 1, compat: { appoAlignment: true } },
] as const;

for (const given of options) {
  const { rule = "arpo-code" } = given as { rule?: string };
  test(`a tree of before is read: ${rule} ${JSON.stringify(given)}`, async () => {
    const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { ...given, seed: 1 });
    const { config } = tree;
    const { expand, branchProbability, entropyWeight, threshold, penaltySlope, compat } = config;
    assert.deepEqual(branchOf(config), {
      ...{ threshold, penaltySlope, probability: branchProbability, weight: entropyWeight },
      rule: expand ? "arpo-code" : config.rule,
    });
    const expansion = expansionOf(config);
    if (expansion) assert.deepEqual(settingsBesidesRule(expansion), expand);
    const none = { rule: undefined, expand: undefined, branchProbability: undefined };
    const written = JSON.parse(
      JSON.stringify({
        ...{ ...config, ...none, entropyWeight: undefined },
        ...{ threshold: undefined, penaltySlope: undefined },
        branch: branchOf(config),
        expansion,
        compat: { ...compat, resultBegin: compat.resultBegin ?? null },
      }),
    ) as typeof config;
    assert.deepEqual(currentConfig(written), config);
    const [line] = treesToJsonl([tree]).split("\n");
    const before = JSON.stringify({ ...(JSON.parse(line!) as object), config: written });
    assert.deepEqual(treesFromJsonl(before)[0]!.config, config);
    assert.deepEqual(treesFromJsonl(line!)[0]!.config, config);
  });
}
