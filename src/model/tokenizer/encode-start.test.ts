import assert from "node:assert/strict";
import { test } from "node:test";
import { rollout } from "../../rollout/rollout.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { ToolSet } from "../../tools/tool-set.js";
import { encodeStart } from "./encode-start.js";
import { HfTokenizer } from "./hf-tokenizer.js";
import { modelFolder } from "../files/model-folder.js";
import type { Tokenizer } from "./tokenizer.js";

const tiny = await HfTokenizer.load(modelFolder("data/models/tiny"));

/** The tokenizer, and how many characters it was given. */
function counted(): { tokenizer: Tokenizer; seen: () => number } {
  let seen = 0;
  const tokenizer: Tokenizer = {
    vocabSize: tiny.vocabSize,
    eosId: tiny.eosId,
    eosIds: tiny.eosIds,
    padId: tiny.padId,
    encode: (text) => {
      seen += text.length;
      return tiny.encode(text);
    },
    decode: (ids, options) => tiny.decode(ids, options),
    chat: (messages, options) => tiny.chat(messages, options),
  };
  return { tokenizer, seen: () => seen };
}

test("encodeStart() gives the first tokens of the whole text", () => {
  const texts = ["some words, 123 numbers and 北京 🙂. ", "word", " ", "\n\n\t", "0123456789"];
  for (const text of texts.map((piece) => piece.repeat(300))) {
    const all = tiny.encode(text);
    for (const most of [0, 1, 7, 100, 999, all.length - 1, all.length, all.length + 1]) {
      const { tokens, whole } = encodeStart(tiny, text, most);
      assert.deepEqual(tokens, all.slice(0, most));
      assert.equal(whole, all.length <= most);
    }
  }
});

test("a tool result of 10 MB costs what its kept part costs", async () => {
  const text = "some words of a page, 42 of them. ".repeat(300_000);
  const tools = new ToolSet([{ name: "page", tag: "page", description: "", execute: () => text }]);
  for (const [contextLength, end] of [
    [500, "context"],
    [1_000_000, "length"],
  ] as const) {
    const { tokenizer, seen } = counted();
    const policy = new ScriptedPolicy(() => ({ text: "<page>x</page>" }), {
      tokenizer,
      contextLength,
    });
    const tree = await rollout(policy, { prompt: "a" }, { tools, responseLength: 64 });
    assert.equal(tree.trajectories[0]!.end, end);
    assert.ok(seen() < 100_000, `${seen()} characters were made tokens of`);
    if (end === "length") assert.equal(tree.selected[0]!.tokens.length, 64);
  }
});
