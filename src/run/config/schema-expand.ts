import { z } from "#zod";
import { branchSignals } from "../../rollout/branch/family/settings.js";
import { treepoAllocations } from "../../rollout/branch/family/treepo.js";
import { section } from "./kinds.js";

const count = (least: number, said: string) =>
  z.number().int().min(least).max(1_000_000).nullable().default(null).describe(said);
const figure = (said: string) => z.number().nullable().default(null).describe(said);

/** Settings of the rules that look at what was written; null is the published value. */
export const expand = section({
  trees: count(1, "tree-grpo, treerl: trees per prompt, each from one chain"),
  rounds: count(0, "tree-grpo, at2po, treerl: rounds of branching"),
  points: count(1, "Places chosen per tree and round; fr3e: anchors per rollout"),
  rows: count(1, "treerl, fr3e: rows from every place"),
  keep: count(1, "tree-grpo: leaves kept per tree"),
  signal: z
    .enum([...branchSignals, "random"])
    .nullable()
    .default(null)
    .describe("What places are ranked by; random: at2po alone"),
  penalty: figure("at2po: what every sibling takes off a turn's signal"),
  upsampling: count(0, "treerl: above 0, places lie far apart, chosen from so many times more"),
  max_length: count(1, "treerl: tokens of a first chain that count"),
  gamma: figure("appo: discount of what is to come"),
  clip: figure("appo: the future value stays within 1 plus or minus this; 0: no bound"),
  right: count(0, "fr3e: right rollouts explored"),
  wrong: count(0, "fr3e: wrong rollouts explored"),
  segment: count(1, "treepo, spo-tree: tokens of a segment"),
  depth: count(1, "treepo: segments of a path"),
  divergence: count(1, "treepo: continuations per path"),
  first: z
    .tuple([z.number().int().min(1), z.number().int().min(1)])
    .nullable()
    .default(null)
    .describe("treepo: the first step makes from so many to so many paths"),
  allocation: z
    .enum(treepoAllocations)
    .nullable()
    .default(null)
    .describe("treepo: how continuations are shared"),
  temperature: figure("treepo: of a weighted allocation"),
  factors: z
    .array(z.number().int().min(1))
    .min(1)
    .nullable()
    .default(null)
    .describe("spo-tree: branch factors by depth"),
});
