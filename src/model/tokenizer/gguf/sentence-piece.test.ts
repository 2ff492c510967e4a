import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { awkwardTexts } from "../../../../tests/awkward-texts.js";
import { pieceTokenizer } from "../../../../tests/model/piece-tokenizer.js";
import { saveGguf } from "../../export/save-gguf.js";
import { GgufFile } from "../../files/gguf/gguf-file.js";
import { Model } from "../../transformer/transformer.js";
import { HfTokenizer } from "../hf-tokenizer.js";

const folder = await mkdtemp(join(tmpdir(), "arpo-pieces-"));
after(() => rm(folder, { recursive: true }));
const template = await readFile("tests/fixtures/chat-templates/gemma3.jinja", "utf8");
const words = ["lower", "lowest", "slower", "search", "the", "tower", "e\u0301t\u00e9"];
const tokenizer = pieceTokenizer(words, template);
const texts = [
  ...["the lowest tower", "slowest  lower\n\n the", "", " ", "\u2581the", "caf\u00e9 \u5317 \u{1f642}"],
  ...awkwardTexts(200, 3, ["<bos>", "<end_of_turn>", "<0x41>"]),
]; // prettier-ignore

test("a tokenizer of pieces and bytes gives every text back", () => {
  assert.ok(tokenizer.encode("the lowest tower").length < 6);
  for (const text of texts) {
    // The sign ▁ is read as a space, and the package that decodes bytes drops a byte order mark.
    if (/[\u2581\ufeff]/.test(text)) continue;
    const ids = tokenizer.encode(text);
    assert.equal(tokenizer.decode(ids), text);
    if (/<|\ufffd/.test(text)) continue;
    const bytes = Buffer.concat(ids.map((id) => tokenizer.bytesOf(id)!));
    assert.equal(bytes.toString(), text);
  }
});

test("it comes along in a GGUF file, with Gemma's template, and gives the same tokens", async () => {
  const path = join(folder, "pieces.gguf");
  const { vocabSize } = tokenizer;
  const sizes = { hiddenSize: 32, intermediateSize: 32, layers: 1, heads: 1, headDim: 32 };
  const model = Model.init({ vocabSize, ...sizes, family: "gemma3", eosIds: [1, 5] }, 1);
  await assert.rejects(saveGguf(model, tokenizer, path), /got windows/);
  model.dispose();
  const window = { window: 8, windowed: [true], windowRopeTheta: 1e4 };
  const whole = Model.init({ vocabSize, ...sizes, family: "gemma3", eosIds: [1, 5], ...window }, 1);
  await saveGguf(whole, tokenizer, path);
  whole.dispose();
  const file = await GgufFile.open(path);
  await file.close();
  assert.equal(file.metadata.get("tokenizer.ggml.model"), "llama");
  assert.deepEqual((file.metadata.get("tokenizer.ggml.token_type") as number[]).slice(0, 8), [3, 3, 3, 2, 3, 3, 6, 6]); // prettier-ignore
  const again = await HfTokenizer.load(path);
  for (const text of texts) assert.deepEqual(again.encode(text), tokenizer.encode(text), text);
  const chat = [{ role: "user", content: "the tower?" }];
  assert.equal(again.chat(chat), tokenizer.chat(chat));
  assert.deepEqual([again.eosIds, again.padId], [tokenizer.eosIds, tokenizer.padId]);
});
