import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  listOf,
  oneOf,
  type OptionRules,
  type OptionRule,
} from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { completed, type Given, option, rulesOf } from "../../../common/options/option-table.js";
import { Random } from "../../base/random/random.js";
import { watchAs } from "../../base/show/show-as.js";
import { ProgressLine } from "../../base/show/progress-line.js";
import { runningCell } from "../../base/show/running-cell.js";
import type { Policy } from "../../policy/policy.js";
import { extractAnswer } from "../../reward/answers/extract-answer.js";
import { normalizeAnswer } from "../../reward/answers/qa-em.js";
import type { Reward } from "../../reward/reward-function.js";
import { checkTruths } from "../../reward/score.js";
import { score, type ScorableTask } from "../../reward/score-trees.js";
import type { RolloutOptions } from "../../rollout/options.js";
import { rolloutRules } from "../../rollout/options.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { TreeNode } from "../../rollout/tree/tree-values.js";
import { type ChangeName, changeNames, changes } from "./changes/registry.js";
import { Evidence } from "./evidence.js";
import { type EvidenceResult, outcomeOf, verdictOf } from "./evidence-values.js";

const evidenceTable = {
  /** Forks of each result, as it was and of each change. Default: 8. */
  tries: option(integer(2, 256), 8),
  /** Tool results at most; those that most trajectories pass come first. Default: 8. */
  results: option(integer(1, 256), 8),
  /** Tokens: no further result is begun once the forks have written so many. Default: 50000. */
  tokens: option(integer(1), 50_000),
  /** Draws the forks, and what is put in a result's place. Default: 1. */
  seed: option(integer(0), 1),
  /** How results are changed: `blanked`, `contradicted`, `exchanged`. Default: all. */
  changes: option(
    listOf(oneOf(changeNames), changeNames.join(", ")) as OptionRule<readonly ChangeName[]>,
    changeNames,
  ),
};

/** How the evidence of a tree is looked at. */
export interface EvidenceOptions
  extends Given<typeof evidenceTable>, Pick<RolloutOptions, "tools" | "signal"> {
  /** Default: as `score`. */
  reward?: Reward;
  /** Needed for a tree that was read from a file. Default: the policy that made it. */
  policy?: Policy;
  /** More trees whose results may be put in a result's place. Default: the tree's own results alone. */
  others?: readonly RolloutTree[];
}

const rules: OptionRules<EvidenceOptions> = {
  ...rulesOf(evidenceTable),
  ...{ tools: rolloutRules.tools, signal: rolloutRules.signal },
  ...{ reward: "reward?", policy: "policy?", others: listOf("tree", "rollout trees") },
};

const action = "look for evidence";

/** A tool result of a tree. */
type Result = TreeNode & { tool: NonNullable<TreeNode["tool"]> };

const isResult = (node: TreeNode): node is Result =>
  node.kind === "tool" && node.tool !== undefined && node.tokens.length > 0;

/** The results that can be changed alone, those that most trajectories pass first. */
function resultsOf(tree: RolloutTree): Result[] {
  const passes = new Map<number, number>();
  for (const { nodes } of tree.trajectories)
    for (const id of nodes) passes.set(id, (passes.get(id) ?? 0) + 1);
  const isTool = (id: number) => tree.nodes[id]?.kind === "tool";
  const together = new Set(
    tree.nodes.flatMap(({ id, parent }) => (isTool(id) && isTool(parent) ? [id, parent] : [])),
  );
  const alone = tree.nodes.filter(isResult).filter(({ id }) => !together.has(id));
  return alone.sort((a, b) => (passes.get(b.id) ?? 0) - (passes.get(a.id) ?? 0) || a.id - b.id);
}

/** The answer that most gave; of several, the first. */
function usual(answers: readonly string[]): string {
  const counts = new Map<string, { first: string; count: number }>();
  for (const answer of answers) {
    const key = normalizeAnswer(answer);
    const known = counts.get(key) ?? { first: answer, count: 0 };
    known.count++;
    counts.set(key, known);
  }
  return [...counts.values()].reduce((a, b) => (b.count > a.count ? b : a)).first;
}

/** What a trajectory answered, and its score. */
interface Said {
  trajectory: number;
  answer: string;
  score: number;
}

async function answersOf(
  tree: RolloutTree<ScorableTask>,
  reward: Reward | undefined,
  signal: AbortSignal | undefined,
): Promise<Said[]> {
  const { trajectories } = await score(tree, reward, defined({ signal }));
  return trajectories.map(({ trajectory, score: { score: value, answer } }) => ({
    ...{ trajectory: trajectory.id, score: value },
    // What was not in a valid format may still be an answer.
    answer: answer || extractAnswer(trajectory.text),
  }));
}

/** What one result is looked at with. */
interface Look {
  tree: RolloutTree<ScorableTask>;
  names: readonly ChangeName[];
  seed: number;
  /** Answers of the tree's own trajectories, and every result that is known. */
  own: readonly Said[];
  known: readonly Result[];
  /** Forks after a result, which may be another. */
  judge: (result: Result, text?: string) => Promise<{ tokens: number; forks: Said[] }>;
}

/** Forks after one result, as it was and with each change. */
async function lookAt(result: Result, { tree, names, seed, own, known, judge }: Look) {
  const { id, tool } = result;
  const { tag, input, text } = tool;
  const through = tree.trajectories.filter(({ nodes }) => nodes.includes(id)).map((one) => one.id);
  const refused: string[] = [];
  let tokens = 0;
  const tried = async (name: string, changed?: string) => {
    try {
      const made = await judge(result, changed);
      tokens += made.tokens;
      return made.forks;
    } catch (error) {
      // A result may be too long, or stand where nothing can go on: the others can still be looked at.
      if (!(error instanceof RangeError && error.message.startsWith("Cannot fork: "))) throw error;
      refused.push(`node ${id}, ${name}: ${error.message}`);
      return undefined;
    }
  };
  const forks = await tried("kept");
  if (!forks || forks.length === 0) return { tokens, refused };
  const before = own.filter(({ trajectory }) => through.includes(trajectory));
  const answer = usual([...before, ...forks].map((one) => one.answer));
  const isSame = (other: string) => normalizeAnswer(other) === normalizeAnswer(answer);
  const kept = outcomeOf(text, forks, isSame);
  const others = [
    ...new Set(
      known.flatMap(({ tool: one }) => (one.tag === tag && one.text !== text ? [one.text] : [])),
    ),
  ];
  const changed: EvidenceResult["changed"] = {};
  for (const { name, change } of changes) {
    if (!names.includes(name)) continue;
    const random = Random.from(seed).split(name).split(tree.index).split(id);
    const other = change({ tag, input, text, others, random });
    const made = other === undefined ? undefined : await tried(name, other);
    if (!made) continue;
    const outcome = outcomeOf(other!, made, isSame);
    changed[name] = { ...outcome, verdict: verdictOf(kept.survived, outcome.survived) };
  }
  const turn = tree.path(id).filter(({ kind }) => kind === "tool").length - 1;
  const found: EvidenceResult = {
    ...{ node: id, trajectory: through[0] ?? -1, turn, tag, input, answer, kept, changed },
  };
  return { tokens, refused, found };
}

/**
 * Does the answer rest on the evidence? Forks a tree after each of its tool results: with the result as it was, blanked,
 * contradicted, and exchanged with what the same tool answered elsewhere. It says whether answer and reward survive, with
 * intervals: over the forks of a result, and over results for all of them (Wilson's, Student's for scores outside 0 to 1).
 *
 * Equal draws go into every change of a result, and the same seed gives the same forks.
 *
 * @param tree a tree whose trajectories called tools, with its policy
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 * import { calculator } from "arpo-lab/tools";
 * import { evidence } from "arpo-lab/rollout";
 *
 * // It reads the result and repeats it.
 * const policy = new ScriptedPolicy(({ text }) => {
 *   const result = /<result>\s*(\d+)/.exec(text)?.[1];
 *   return { text: result ? `<answer>${result}</answer>\u0001` : "<calc>6*7</calc>" };
 * });
 * const task = { prompt: "6*7?", groundTruth: "42" };
 * const tree = await rollout(policy, task, { tools: [calculator()], n: 2, initialRollouts: 2 });
 * const found = await evidence(tree, { changes: ["blanked", "contradicted"] });
 * assert.equal(found.results[0]!.changed.contradicted!.verdict, "falls");
 * ```
 */
export async function evidence(
  tree: RolloutTree,
  options: EvidenceOptions = {},
): Promise<Evidence> {
  checkArguments(action, { tree }, { tree: "tree" });
  checkOptions(action, options, rules);
  const {
    tries,
    results: most,
    tokens,
    seed,
    changes: names,
  } = completed(evidenceTable, options, {});
  const { reward, policy, others = [], tools, signal = runningCell()?.signal } = options;
  const scorable = tree as RolloutTree<ScorableTask>;
  if (reward === undefined && tree.environment === undefined) checkTruths(action, [scorable.task]);
  if (!policy && !tree.canGoOn)
    throw new TypeError(
      `Cannot ${action}: a tree that was read from a file needs a policy, got none`,
    );
  const all = resultsOf(tree);
  if (all.length === 0)
    throw new RangeError(
      `Cannot ${action}: the tree must have a tool result that stands alone, got none`,
    );
  const look: Look = {
    ...{ tree: scorable, names, seed },
    own: await answersOf(scorable, reward, signal),
    known: [tree, ...others].flatMap(({ nodes }) => nodes.filter(isResult)),
    judge: async (result, text) => {
      const fork = await scorable.fork(result.id, {
        ...defined({ policy, tools, signal, result: text }),
        ...{ n: tries, initialRollouts: tries, beamSize: 1, seed, quiet: true },
      });
      const tokens = fork.nodes.reduce(
        (sum, { kind, trajectory, tokens: { length } }) =>
          sum + (kind === "model" && trajectory >= 0 ? length : 0),
        0,
      );
      return { tokens, forks: await answersOf(fork, reward, signal) };
    },
  };
  const found: EvidenceResult[] = [];
  const left: string[] = [];
  let spent = 0;
  const live = watchAs("Work", { after: "this result" });
  const line = new ProgressLine();
  try {
    for (const [i, result] of all.slice(0, most).entries()) {
      if (spent >= tokens || live?.stopping) break;
      live?.tell?.(line.count("looking at tool results", i, Math.min(most, all.length)), {
        share: i / Math.min(most, all.length),
      });
      const { tokens: written, found: one, refused } = await lookAt(result, look);
      spent += written;
      left.push(...refused);
      if (one) found.push(one);
    }
  } finally {
    live?.done();
  }
  const unseen = all.length - found.length;
  if (unseen > 0)
    left.push(
      `${unseen} of ${all.length} tool results were not looked at: the limits are { results: ${most}, tokens: ${tokens} }`,
    );
  const settings = { policy: policy?.name ?? tree.policy, tries, seed, changes: names };
  found.sort((a, b) => a.node - b.node);
  return new Evidence(found, settings, { tokens: spent, left });
}
