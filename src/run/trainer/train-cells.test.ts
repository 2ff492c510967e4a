import assert from "node:assert/strict";
import { test } from "node:test";
import { tasks } from "../../data/index.js";
import { HfTokenizer, Model } from "../../model/index.js";
import { Policy } from "../../policy/index.js";
import { ToolSet } from "../../tools/index.js";
import { tinyTokenizer } from "../tiny/tiny-tokenizer.js";
import { trainOn } from "./train-cells.js";

const tokenizer = new HfTokenizer(tinyTokenizer());
const sizes = { hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2, kvHeads: 1 };
const options = { steps: 1, prompts: 1, n: 4, miniBatch: 1, live: false, tools: new ToolSet() };

/** How the rows of a step's first tree came to be. */
async function kindsOf(preset: "grpo" | "arpo"): Promise<string[]> {
  const model = Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 1);
  const policy = Policy.fromModel(model, tokenizer);
  const run = await trainOn(policy, tasks.calc({ train: 1, test: 1 }), { ...options, preset });
  policy.dispose();
  return run.steps[0]!.trees[0]!.rows.map(({ kind }) => kind);
}

test("trainOn() starts all rows at once where nothing branches, half of them in a tree", async () => {
  assert.deepEqual(await kindsOf("grpo"), ["initial", "initial", "initial", "initial"]);
  assert.deepEqual((await kindsOf("arpo")).slice(0, 3), ["initial", "initial", "refill"]);
});
