import { Registry } from "../../../common/options/registry.js";
import { byDataSource, nameOf } from "../by-data-source.js";
import { deepResearchReward } from "./deep-research.js";
import { defineReward, type RewardDefinition } from "./definition.js";
import { environmentsOwn } from "./environment.js";
import { exactMatchReward } from "./exact-match.js";
import { gsm8kReward } from "./gsm8k.js";
import { mathReward } from "./math.js";
import { mathNumericReward } from "./math-numeric.js";
import { reference } from "../reward-function.js";
import { substringMatchReward } from "./substring-match.js";

const own = [
  deepResearchReward,
  mathReward,
  mathNumericReward,
  gsm8kReward,
  environmentsOwn,
  exactMatchReward,
  substringMatchReward,
  defineReward({
    ...deepResearchReward,
    name: "reference",
    words: "as `deep_research`, but what tools said counts too, as in the published runs",
    reward: reference(deepResearchReward.reward),
  }),
];

const bySource = Object.fromEntries(
  own.flatMap(({ reward, dataSources = [] }) => dataSources.map((source) => [source, reward])),
);

/** The reference's own choice by data source, which every published run overrides with deep_research. */
export const naiveReward = defineReward({
  ...deepResearchReward,
  name: "naive",
  words: "the data source's own, else deep_research",
  reward: byDataSource(bySource, deepResearchReward.reward),
});

/** The rewards that a configuration can name. */
export const rewards = new Registry<RewardDefinition>("reward", [...own, naiveReward], ["reward"]);

/** Whether tasks of a data source are judged by a rule of their own where a configuration names no reward. */
export function judgedApart(dataSource: string): boolean {
  return nameOf(Object.keys(bySource), dataSource) !== undefined;
}
