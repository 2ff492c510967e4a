import { groupsOf, rightIn, ruleOf } from "../right-in.js";
import type { ScoredTrajectory } from "../scored.js";
import type { FindingDefinition, FindingInput, FindingPlace } from "./definition.js";

/** Where a scored trajectory stands. */
export const placeOf = ({ group, trajectory }: ScoredTrajectory): FindingPlace => ({
  ...{ group, row: trajectory.id, tree: trajectory.tree },
});

/** A share in whole percent; a share that rounds to none or all says so. */
export function percent(part: number, whole: number): string {
  const share = Math.round((100 * part) / whole);
  if (share === 0 && part > 0) return "less than 1%";
  return share === 100 && part < whole ? "more than 99%" : `${share}%`;
}

/** How often each reason occurs, the most frequent first; what follows a colon is left out. */
function reasons(trajectories: readonly ScoredTrajectory[]): string {
  const counts = new Map<string, number>();
  for (const { score } of trajectories) {
    const reason = score.reason.startsWith("bad format")
      ? score.reason
      : (score.reason.split(":")[0] ?? "");
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([reason, n]) => `${reason || "the reward gave no reason"} (${n})`)
    .join(", ");
}

const isCut = ({ trajectory }: ScoredTrajectory) => ["length", "context"].includes(trajectory.end);

const limitOf = ({ trees }: FindingInput) =>
  trees[0] === undefined ? "the response length" : `${trees[0].config.responseLength} tokens`;

/** Trajectories in a broken format: below 0 where a right answer is 1; another scale may begin anywhere. */
function brokenIn({ scored }: FindingInput): ScoredTrajectory[] {
  const isUsual = ruleOf(scored).scale === "usual";
  return scored.filter(
    ({ score }) => score.score < 0 && (isUsual || score.reason.startsWith("bad format")),
  );
}

export const toolsFailed: FindingDefinition = {
  name: "tools-failed",
  title: "Tools failed",
  find: ({ scored }) => {
    const failed = ({ trajectory }: ScoredTrajectory) =>
      trajectory.toolCalls.filter((call) => !call.ok);
    const where = scored.filter((one) => failed(one).length > 0);
    if (where.length === 0) return undefined;
    const calls = where.flatMap(failed);
    const tags = [...new Set(calls.map((call) => call.tag))].join(", ");
    return {
      message: `${percent(where.length, scored.length)} of the trajectories had a tool that failed (${tags}, ${calls.length} calls): their rewards say little about the policy. Check the tool before training.`,
      where: where.map(placeOf),
    };
  },
};

export const brokenFormat: FindingDefinition = {
  name: "format",
  title: "Broken format",
  ofAnswers: true,
  find: (input) => {
    const { scored } = input;
    const broken = brokenIn(input);
    if (broken.length <= scored.length / 2) return undefined;
    return {
      message: `${percent(broken.length, scored.length)} of the trajectories break the format: ${reasons(broken)}. More supervised fine-tuning, a prompt that shows the format, or a reward that does not ask for it may help.`,
      where: broken.map(placeOf),
    };
  },
};

export const allWrong: FindingDefinition = {
  name: "all-wrong",
  title: "No reward earned",
  ofAnswers: true,
  find: (input) => {
    const { scored } = input;
    const rule = ruleOf(scored);
    // The best of a scale of its own is never known to be wrong; of the usual one, what earned a little is not all wrong.
    if (scored.length < 2 || rule.scale === "own") return undefined;
    const isRight = rightIn(scored);
    const earned = (one: ScoredTrajectory) =>
      rule.scale === "success" ? isRight(one) === true : one.score.score > 0;
    if (scored.some(earned)) return undefined;
    if (brokenIn(input).length > scored.length / 2) return undefined;
    const cut = scored.filter(isCut);
    const why =
      cut.length > scored.length / 4
        ? `${percent(cut.length, scored.length)} were cut at ${limitOf(input)}; set responseLength`
        : `${reasons(scored)}. The tasks may be too hard, or the ground truths may not match`;
    const what =
      rule.scale === "success"
        ? `No trajectory is right (${rule.by})`
        : "No trajectory earned a reward";
    return { message: `${what}: ${why}.`, where: scored.map(placeOf) };
  },
};

/** The groups that rewards could tell apart, and those of them that they do not: a prompt with one trajectory has nothing to differ from. */
function flatGroups(scored: readonly ScoredTrajectory[]) {
  const groups = groupsOf(scored).filter((own) => own.length > 1);
  const flat = groups.filter((own) =>
    own.every(({ score }) => score.score === own[0]!.score.score),
  );
  return { groups, flat };
}

/** Whether no prompt has rewards that differ. */
export function noneDiffers(scored: readonly ScoredTrajectory[]): boolean {
  const { groups, flat } = flatGroups(scored);
  return groups.length > 0 && flat.length === groups.length;
}

export const sameReward: FindingDefinition = {
  name: "all-equal",
  title: "Rewards that never differ",
  find: ({ scored }) => {
    const { groups, flat } = flatGroups(scored);
    if (flat.length === 0 || flat.length < groups.length / 2) return undefined;
    const where = flat.flat();
    const begin =
      flat.length === groups.length
        ? "Every trajectory of each prompt has the same reward: group advantages are all 0 and nothing is learned."
        : `${flat.length} of ${groups.length} prompts have the same reward for every trajectory: their group advantages are 0 and nothing is learned from them.`;
    return { message: `${begin} ${reasons(where)}.`, where: where.map(placeOf) };
  },
};

export const cutOff: FindingDefinition = {
  name: "cut-off",
  title: "Cut off",
  find: (input) => {
    const { scored } = input;
    const cut = scored.filter(isCut);
    if (cut.length <= scored.length / 4) return undefined;
    return {
      message: `${percent(cut.length, scored.length)} of the trajectories were cut at ${limitOf(input)}: raise responseLength, or check that the policy ends its answers.`,
      where: cut.map(placeOf),
    };
  },
};
