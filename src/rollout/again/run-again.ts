import type { Policy } from "../../policy/policy.js";
import { treesToJsonl } from "../files/tree-jsonl.js";
import type { RolloutOptions } from "../options.js";
import { rollout } from "../rollout.js";
import { RolloutTree } from "../rollout-tree.js";
import type { RolloutTask } from "../task.js";
import { UnfinishedRollout } from "../unfinished-rollout.js";
import { withAlternatives } from "./alternatives.js";
import { RecordedTools, UnrecordedCall } from "./recorded-tools.js";

/** What came of running a tree again. */
export interface Again {
  /** The new tree, with as many alternatives as the old one; undefined where it wanted a call that the old one does not hold. */
  tree?: RolloutTree;
  /** What it has in common with the old one: all bytes, all tokens, or not even those. */
  same: "bytes" | "tokens" | "none";
  /** That, in words: also where they differ first. */
  verdict: string;
}

/** More than a link's tree has, and less than a page can wait for. */
const most = { n: 256, responseLength: 8192 };

/** Refuses what a rollout cannot be made of alone, or is too large for. */
function checkTree({ config, origin, environment, version }: RolloutTree): void {
  const refuse = (rule: string, got: string): never => {
    throw new RangeError(`Cannot run a tree again: ${rule}, got ${got}`);
  };
  if (origin) refuse("it must be a whole rollout", "a fork of another tree");
  if (environment) refuse("it must have called tools alone", "one that acted in an environment");
  if (version) refuse("its policy must be as it was loaded", `one after ${version} updates`);
  for (const name of ["n", "responseLength"] as const) {
    const value: unknown = config[name];
    if (!(Number(value) <= most[name]))
      refuse(`its ${name} must be at most ${most[name]}`, String(value));
  }
}

/** Where two trees of one task differ first, in words; undefined where their tokens are the same. */
function firstDifference(before: RolloutTree, now: RolloutTree): string | undefined {
  for (const [i, { tokens, trajectory }] of before.nodes.entries()) {
    const other = now.nodes[i]?.tokens ?? [];
    const at = tokens.findIndex((token, t) => token !== other[t]);
    if (at >= 0 || tokens.length !== other.length)
      return `token ${at < 0 ? Math.min(tokens.length, other.length) : at} of segment ${i}, in trajectory ${trajectory}`;
  }
  return now.nodes.length === before.nodes.length ? undefined : `segment ${before.nodes.length}`;
}

function verdictOf(before: RolloutTree, now: RolloutTree): Pick<Again, "same" | "verdict"> {
  const [old, made] = [before, now].map((tree) => treesToJsonl([tree], { timing: false }));
  if (old === made)
    return { same: "bytes", verdict: `The same ${old!.length.toLocaleString("en")} bytes.` };
  const place = firstDifference(before, now);
  if (place !== undefined) return { same: "none", verdict: `Another tree from ${place} on.` };
  const apart = before.nodes.flatMap(({ logprobs }, i) =>
    Array.from(logprobs, (value, t) => Math.abs(value - now.nodes[i]!.logprobs[t]!)),
  );
  const farthest = apart.reduce((most, one) => Math.max(most, one), 0);
  return {
    same: "tokens",
    verdict: `The same tokens, not the same bytes: log-probabilities differ by up to ${farthest.toPrecision(1)}, as between two engines.`,
  };
}

/** Makes a tree again from its task, seed and settings, by a policy, with the results that its tools gave. */
export async function runAgain(policy: Policy, tree: RolloutTree): Promise<Again> {
  checkTree(tree);
  const tools = new RecordedTools(tree);
  const given = { ...tree.config, tools, firstIndex: tree.index, quiet: true };
  const options = given as unknown as RolloutOptions;
  let made: RolloutTree;
  try {
    [made] = (await rollout(policy, [tree.task as RolloutTask], options)) as [RolloutTree];
  } catch (error) {
    const reason = error instanceof UnfinishedRollout ? error.cause : error;
    if (!(reason instanceof UnrecordedCall)) throw error;
    return { same: "none", verdict: `Another tree. ${reason.message}` };
  }
  const widths = tree.nodes.map(({ top }) => top?.width ?? 0);
  const cut = withAlternatives(made, (node) => widths[node] ?? 0);
  // The policy's name is its folder's, and the settings are those given: both are no result.
  const told = { ...cut, config: tree.config, policy: tree.policy };
  const now = new RolloutTree(told, { tokenizer: policy.tokenizer });
  return { tree: now, ...verdictOf(tree, now) };
}
