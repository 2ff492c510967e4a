import { createWorld, question, sentence, tasks } from "../../data/index.js";
import { type TokenizerFiles, trainBpe } from "../../model/index.js";
import { resultBlock } from "../../text/result-block.js";

/** What a trajectory is built from; a tag is one token, so that the format is easy to learn. */
const tags = ["think", "search", "python", "result", "answer"].flatMap((t) => [
  `<${t}>`,
  `</${t}>`,
]);

const template =
  "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}" +
  "{% if message['role'] == 'assistant' %}<|end|>{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}<|assistant|>{% endif %}";

/** Everything the families say, so that its words become tokens. */
function* texts(): Generator<string> {
  for (const make of Object.values(tasks)) {
    for (const task of make({ seed: 99, train: 60, test: 1 }).train) yield question(task);
  }
  for (let i = 0; i < 100; i++) yield `${String(i).padStart(2, "0")} `.repeat(8);
  const { facts, trades } = createWorld(1);
  for (const fact of facts) yield `\nPage 1: ${sentence(fact)}`;
  for (let i = 0; i < 40; i++) {
    yield "I look it up. I look up the mayor. I compute 1*2. It is 3. unknown\\boxed{4}";
    yield `${resultBlock("Page 2: x\nPage 3: y")} ${trades.join(" ")}`;
  }
}

/**
 * The tiny model's tokenizer, trained on what its tasks say: tags and the invented names are whole
 * tokens, numbers come in pairs of digits. (Copying a name of several tokens, or a number in single
 * digits, took many times the training.)
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { HfTokenizer } from "arpo-lab/model";
 * import { tinyTokenizer } from "arpo-lab/run";
 *
 * const tokenizer = new HfTokenizer(tinyTokenizer());
 * assert.equal(tokenizer.encode("<search></search>").length, 2); // a tag is one token
 * assert.equal(tokenizer.encode("1234").length, 2); // numbers come in pairs of digits
 * ```
 */
export function tinyTokenizer(): TokenizerFiles {
  const { towns, people, rivers, trades } = createWorld();
  return trainBpe(texts(), {
    vocabSize: 640,
    specialTokens: ["<|end|>", "<|user|>", "<|assistant|>"],
    addedTokens: [...tags, ...towns, ...people, ...rivers, ...trades],
    eosToken: "<|end|>",
    padToken: "<|end|>",
    maxDigits: 2,
    chatTemplate: template,
  });
}
