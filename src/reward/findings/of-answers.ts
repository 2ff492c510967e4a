import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { groupsOf, rightIn } from "../right-in.js";
import type { ScoredTrajectory } from "../scored.js";
import type { FindingDefinition, FindingInput } from "./definition.js";
import { percent, placeOf } from "./of-rewards.js";

/** Characters of a text that are looked through: texts are others'. */
const most = 100_000;
/** Different words of a batch that are counted. */
const mostWords = 200_000;

const word = /[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]+/gu;

const wordsOf = (text: string) => new Set(text.slice(0, most).toLowerCase().match(word) ?? []);

/** What the model itself wrote in a trajectory. */
const ownText = ({ trajectory: { parts, text } }: ScoredTrajectory) =>
  parts === undefined
    ? text
    : parts
        .filter(({ by }) => by === "model")
        .map((part) => part.text)
        .join("");

/** The tree of each trajectory. */
function treesOf({ trees }: FindingInput) {
  const byIndex = new Map(trees.map((tree) => [tree.index, tree]));
  return ({ trajectory }: ScoredTrajectory): RolloutTree | undefined =>
    byIndex.get(trajectory.tree);
}

/** What separates right from wrong must do so in so many trajectories and prompts. */
const [leastOn, leastPrompts] = [4, 3];

export const oneTokenEarns: FindingDefinition = {
  name: "one-token",
  title: "One word earns",
  find: ({ scored }) => {
    const values = scored.map(({ score }) => score.score);
    const [low, high] = [
      values.reduce((a, b) => Math.min(a, b), Infinity),
      values.reduce((a, b) => Math.max(a, b), -Infinity),
    ];
    if (!(high > low)) return undefined;
    const prompts = groupsOf(scored);
    if (prompts.length < leastPrompts) return undefined;
    const counts = new Map<string, { count: number; sum: number; prompts: number; last: number }>();
    prompts.forEach((own, prompt) => {
      for (const one of own) {
        for (const text of wordsOf(ownText(one))) {
          let known = counts.get(text);
          if (!known) {
            if (counts.size >= mostWords) continue;
            known = { count: 0, sum: 0, prompts: 0, last: -1 };
            counts.set(text, known);
          }
          known.count++;
          known.sum += one.score.score;
          if (known.last !== prompt) [known.prompts, known.last] = [known.prompts + 1, prompt];
        }
      }
    });
    const total = values.reduce((a, b) => a + b, 0);
    const gap = ({ count, sum }: { count: number; sum: number }) =>
      sum / count - (total - sum) / (scored.length - count);
    const found = [...counts]
      .filter(
        ([, { count, prompts: of }]) =>
          count >= leastOn && scored.length - count >= leastOn && of >= leastPrompts,
      )
      .map(([text, known]) => ({ text, count: known.count, gap: gap(known) }))
      .filter((one) => one.gap >= 0.9 * (high - low))
      .sort((a, b) => b.gap - a.gap || b.count - a.count || (a.text < b.text ? -1 : 1));
    const [best] = found;
    if (!best) return undefined;
    const where = scored.filter((one) => wordsOf(ownText(one)).has(best.text));
    const quoted = JSON.stringify(best.text.slice(0, 40));
    return {
      message: `${where.length} of ${scored.length} trajectories write ${quoted} and score ${best.gap.toFixed(2)} more on average than the others, in prompts with different answers: the reward may pay for the word and not for the answer. Read what the reward looks for.`,
      where: where.map(placeOf),
    };
  },
};

/** Answers that stand in most prompts anyway. */
const common = new Set(["yes", "no", "true", "false", "none"]);

/** Whether a word or number stands in a text by itself. */
function standsIn(text: string, answer: string): boolean {
  const isPart = (sign: string | undefined) => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);
  for (let at = text.indexOf(answer); at >= 0; at = text.indexOf(answer, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + answer.length])) return true;
  }
  return false;
}

/** The answer of a trajectory as it can be found in texts; undefined where it says too little. */
function answerOf({ score }: ScoredTrajectory): string | undefined {
  const answer = score.answer?.trim().toLowerCase() ?? "";
  return answer.length < 2 || answer.length > 200 || common.has(answer) ? undefined : answer;
}

export const copiedAnswers: FindingDefinition = {
  name: "copied-answer",
  title: "Answers copied from the prompt",
  find: (input) => {
    const treeOf = treesOf(input);
    const prompts = new Map<RolloutTree, string>();
    const promptOf = (tree: RolloutTree) => {
      const known = prompts.get(tree) ?? tree.prompt.text.slice(0, most).toLowerCase();
      prompts.set(tree, known);
      return known;
    };
    const isRewarded = rightIn(input.scored);
    const answered = input.scored.filter((one) => isRewarded(one) && answerOf(one) !== undefined);
    const where = answered.filter((one) => {
      const tree = treeOf(one);
      return tree !== undefined && standsIn(promptOf(tree), answerOf(one)!);
    });
    if (where.length === 0 || where.length < answered.length / 10) return undefined;
    return {
      message: `${percent(where.length, answered.length)} of the rewarded answers stand in the prompt word for word: they can be copied without solving anything. Check whether the prompt shows its answer.`,
      where: where.map(placeOf),
    };
  },
};

/** Whether anything that tools brought, and that was not known before, is used after it. */
function usesResults({ trajectory }: ScoredTrajectory, prompt: string): boolean | undefined {
  const known = wordsOf(prompt);
  const brought = new Set<string>();
  // A number may be used without being written: what is computed from it is another one.
  const shows = () => [...brought].some((each) => /\p{L}/u.test(each));
  let had = false;
  for (const { by, text } of trajectory.parts ?? []) {
    if (by === "tool" || by === "environment") {
      for (const each of wordsOf(text)) {
        if (/[\p{L}\p{N}]/u.test(each) && !known.has(each)) brought.add(each);
      }
    } else if (by === "model") {
      const own = wordsOf(text);
      had ||= own.size > 0 && shows();
      for (const each of own) {
        if (brought.has(each)) return true;
        known.add(each);
      }
    }
  }
  return had ? false : undefined;
}

export const ignoredResults: FindingDefinition = {
  name: "results-ignored",
  title: "Results ignored",
  find: (input) => {
    const treeOf = treesOf(input);
    const used = input.scored.map((one) => usesResults(one, treeOf(one)?.prompt.text ?? ""));
    const told = used.filter((one) => one !== undefined).length;
    const where = input.scored.filter((_, i) => used[i] === false);
    if (where.length === 0 || where.length < told / 10) return undefined;
    const earned = where.filter(rightIn(input.scored)).length;
    if (earned === 0) return undefined;
    return {
      message: `${percent(where.length, told)} of the trajectories whose tools brought a new word use none of them afterwards; ${earned} of these ${where.length} are scored as right ones. The calls may be there for the reward alone.`,
      where: where.map(placeOf),
    };
  },
};

export const repeatedCalls: FindingDefinition = {
  name: "repeated-calls",
  title: "The same call again and again",
  find: ({ scored }) => {
    const where = scored.filter(({ trajectory: { toolCalls } }) => {
      const counts = new Map<string, number>();
      for (const { tag, input } of toolCalls) {
        const key = `${tag} ${input}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return [...counts.values()].some((count) => count > 2);
    });
    if (where.length === 0) return undefined;
    return {
      message: `${percent(where.length, scored.length)} of the trajectories make one call with the same input three times or more: the tool's answer does not help, or is not read.`,
      where: where.map(placeOf),
    };
  },
};
