import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import { CodePointTokenizer } from "../rollout/testing/code-point-tokenizer.js";
import { naturalTasks } from "./natural/index.js";
import { readTasks } from "./read-tasks.js";
import { tasks } from "./tasks/index.js";
import { spellingProblem, unspelledWords } from "./unspelled-words.js";

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const tiny = await HfTokenizer.load(path("data/models/tiny"));

test("unspelledWords() tells the words a tokenizer was made for from all others", async () => {
  for (const family of ["calc", "lookup", "multihop", "mixed"] as const) {
    const { train } = tasks[family]({ train: 64, test: 1 });
    assert.ok(unspelledWords(tiny, train).share < 0.05, family);
    assert.equal(spellingProblem(tiny, train), undefined, family);
  }
  const own = await readTasks(path("examples/own-task/data/train.jsonl"));
  const natural = naturalTasks.natural({ train: 64, test: 1 }).train;
  for (const train of [own, natural]) {
    assert.ok(unspelledWords(tiny, train).share > 0.6);
    const { found, fix } = spellingProblem(tiny, train)!;
    assert.match(found, /cuts \d\d% of the \d+ words .* into single letters or bytes \("\w+", /);
    assert.match(fix, /arpo-lab fetch smollm2/);
  }
});

test("unspelledWords() counts words that do not come back, and judges no few words", () => {
  const lossy = Object.assign(new CodePointTokenizer(), {
    encode: () => [0],
    decode: () => "?",
  });
  const [task] = tasks.calc({ train: 1, test: 1 }).train;
  const about = (content: string) => [{ ...task!, prompt: [{ role: "user" as const, content }] }];
  const { share, words, examples } = unspelledWords(lossy, about("ounces of flour and flour"));
  assert.deepEqual(
    { share, words, examples },
    { share: 1, words: 4, examples: ["flour", "ounces", "and"] },
  );
  assert.equal(spellingProblem(lossy, about("ounces of flour")), undefined);
  assert.equal(unspelledWords(lossy, about("2 + 2")).share, 0);
});
