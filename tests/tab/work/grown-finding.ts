import { Policy, rollout, score, tasks, taskTools, world } from "../../../src/api/index.js";
import { packagePath } from "#platform/modules";
import { findingOf } from "../../../src/formats/write/finding.js";

/** A tree of the policy that ships, with its scores, as the letters of a link and as a small file. */
export async function grownFinding(): Promise<{ letters: string; text: string }> {
  const policy = await Policy.load(packagePath("data/models/tiny"));
  const task = tasks.multihop({ seed: 2 }).train[2]!;
  await using tools = taskTools(world);
  const options = { preset: "arpo", n: 8, responseLength: 256, seed: 3, tools } as const;
  const tree = await rollout(policy, task, options);
  const { letters, text } = await findingOf(tree, { scored: await score(tree) });
  return { letters: letters!, text };
}
