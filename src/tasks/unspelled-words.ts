import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
import { question, type Task } from "./task.js";

/** Words of a task's questions and answers that a tokenizer has no tokens for. */
interface UnspelledWords {
  /** Their share of all words: 0 to 1. */
  share: number;
  /** How many words were looked at. */
  words: number;
  /** Some of them, the most frequent first. */
  examples: string[];
}

/** Above this share, of at least so many words, a model is not expected to read and write a task's words. */
const [most, least] = [0.25, 10];

/** Enough tasks to judge all. */
const sample = 200;

/** Written with letters and spaces between words, where a token usually stands for several letters. */
const word = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{3,}/gu;

/**
 * The words that a tokenizer cuts into single letters, bytes or unknown tokens: more than one token for every
 * two letters, or a text that does not come back. A model that was trained with this tokenizer has hardly
 * seen them.
 */
export function unspelledWords(tokenizer: Tokenizer, tasks: readonly Task[]): UnspelledWords {
  const counts = new Map<string, number>();
  let words = 0;
  for (const task of tasks.slice(0, sample)) {
    const text = [question(task), ...[task.groundTruth ?? []].flat()].join("\n");
    for (const [found] of text.matchAll(word)) {
      words++;
      counts.set(found, (counts.get(found) ?? 0) + 1);
    }
  }
  const unspelled = [...counts]
    .filter(([text]) => {
      const ids = tokenizer.encode(` ${text}`);
      return ids.length > text.length / 2 || tokenizer.decode(ids).trim() !== text;
    })
    .sort((a, b) => b[1] - a[1]);
  const share = words === 0 ? 0 : unspelled.reduce((sum, [, count]) => sum + count, 0) / words;
  return { share, words, examples: unspelled.slice(0, 3).map(([text]) => text) };
}

/** Says that a model cannot spell a task's words, and which model to start from; nothing where it can. */
export function spellingProblem(
  tokenizer: Tokenizer,
  tasks: readonly Task[],
): { found: string; fix: string } | undefined {
  const { share, words, examples } = unspelledWords(tokenizer, tasks);
  if (share <= most || words < least) return undefined;
  const listed = examples.map((text) => JSON.stringify(text)).join(", ");
  return {
    found: `the model's tokenizer cuts ${Math.round(100 * share)}% of the ${words} words of questions and answers into single letters or bytes (${listed}): the model was not trained on such words, and rewards may stay at 0`,
    fix: "start from a pretrained model: arpo-lab fetch smollm2, then SFT on demonstrations (docs/own.md)",
  };
}
