import { checkScored, type Scored, type ScoredTrajectory } from "./scored.js";

/** Something about a batch's rewards that a person should know before training on them. */
export interface Finding {
  kind: "all-equal" | "all-wrong" | "format" | "tools-failed" | "cut-off";
  /** What is the matter and what may help, in words. */
  message: string;
  /** The trajectories it is about: group and trajectory. */
  where: { group: string; row: number }[];
}

const place = ({ group, trajectory }: ScoredTrajectory) => ({ group, row: trajectory.id });
const percent = (part: number, whole: number) => `${Math.round((100 * part) / whole)}%`;

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

/**
 * Says what is wrong with a batch's rewards: all equal (nothing to learn), all wrong, mostly badly
 * formatted, spoiled by failing tools, or cut off, and on which trajectories. Empty when all is well.
 *
 * @param scored the scored trajectories, from `score`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { diagnose, score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = new ScriptedPolicy(() => ({ text: "4\u0001" }));
 * const tree = await rollout(policy, { prompt: "2+2?", groundTruth: "4" }, { n: 2 });
 * const [first] = diagnose(await score(tree));
 * assert.match(first.message, /<think> or <\/think> not found \(2\)/);
 * ```
 */
export function diagnose(scored: Scored): Finding[] {
  checkScored("diagnose", scored);
  const { trajectories } = scored;
  const findings: Finding[] = [];
  const add = (kind: Finding["kind"], of: readonly ScoredTrajectory[], message: string) => {
    findings.push({ kind, message, where: of.map(place) });
  };

  const cut = trajectories.filter((trajectory) =>
    ["length", "context"].includes(trajectory.trajectory.end),
  );
  const [most] = (scored.trees ?? []).map(({ config }) => config.responseLength);
  const limit = most === undefined ? "the response length" : `${most} tokens`;
  const cutShare = percent(cut.length, trajectories.length);
  const spoiled = trajectories.filter((trajectory) =>
    trajectory.trajectory.toolCalls.some((call) => !call.ok),
  );
  if (spoiled.length > 0) {
    const calls = spoiled.flatMap((trajectory) =>
      trajectory.trajectory.toolCalls.filter((call) => !call.ok),
    );
    const tags = [...new Set(calls.map((call) => call.tag))].join(", ");
    add(
      "tools-failed",
      spoiled,
      `${percent(spoiled.length, trajectories.length)} of the trajectories had a tool that failed (${tags}, ${calls.length} calls): their rewards say little about the policy. Check the tool before training.`,
    );
  }
  const broken = trajectories.filter((trajectory) => trajectory.score.score < 0);
  if (broken.length > trajectories.length / 2) {
    add(
      "format",
      broken,
      `${percent(broken.length, trajectories.length)} of the trajectories break the format: ${reasons(broken)}. More supervised fine-tuning, or a prompt that shows the format, may help.`,
    );
  }
  const values = trajectories.map((trajectory) => trajectory.score.score);
  if (
    values.length > 1 &&
    values.every((v) => v <= 0) &&
    broken.length <= trajectories.length / 2
  ) {
    const why =
      cut.length > trajectories.length / 4
        ? `${cutShare} were cut at ${limit}; set responseLength`
        : `${reasons(trajectories)}. The tasks may be too hard, or the ground truths may not match`;
    add("all-wrong", trajectories, `No trajectory earned a reward: ${why}.`);
  }
  const groups = new Map<string, ScoredTrajectory[]>();
  for (const trajectory of trajectories)
    groups.set(trajectory.group, [...(groups.get(trajectory.group) ?? []), trajectory]);
  const flat = [...groups.values()].filter(
    (own) =>
      own.length > 1 && own.every((trajectory) => trajectory.score.score === own[0]!.score.score),
  );
  if (groups.size > 0 && flat.length === groups.size) {
    add(
      "all-equal",
      trajectories,
      `Every trajectory of each prompt has the same reward: group advantages are all 0 and nothing is learned. ${reasons(trajectories)}.`,
    );
  }
  if (cut.length > trajectories.length / 4) {
    add(
      "cut-off",
      cut,
      `${cutShare} of the trajectories were cut at ${limit}: raise responseLength, or check that the policy ends its answers.`,
    );
  }
  return findings;
}
