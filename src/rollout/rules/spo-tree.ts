import { count, counts } from "../../../common/options/setting.js";
import { oneSegment } from "../expand/segment-steps.js";
import { defineRule } from "./definition.js";

/** A tree of fixed branch factors: segments of so many tokens, the last of any length. */
export const spoTree = defineRule({
  name: "spo-tree",
  title: "SPO-tree",
  words: "after every segment, by fixed factors",
  // Those for a model of 1.5B parameters on MATH.
  settings: {
    segment: count(600, "tokens of a segment"),
    factors: counts([6, 6, 6], "branch factors by depth"),
  },
  trajectories: ({ factors }) => ({
    n: factors.reduce((product, f) => product * f, 1),
    initialRollouts: factors[0]!,
  }),
  preset: {},
  segments: {
    first: ({ factors }) => factors[0]!,
    continuations: ({ factors }, { going }) => going.map(({ step }) => factors[step] ?? 1),
    cut: ({ factors }) => factors.length - 1,
  },
  why: ({ segment, factors }) =>
    `the end of a segment of ${segment} tokens: factors ${factors.join(", ")}`,
  advice: oneSegment,
});
