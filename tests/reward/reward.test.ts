import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { deepResearch } from "../../src/reward/rewards/deep-research.js";
import { normalizeAnswer, tokenF1 } from "../../src/reward/answers/qa-em.js";
import { mathEquivalent } from "../../src/reward/answers/math-equivalence.js";
import { math } from "../../src/reward/rewards/math.js";
import { rewards } from "../../src/reward/rewards/registry.js";
import { strip, words } from "../../src/base/text/python-text.js";

test("words() splits where Python does: U+0085 and U+3000 yes, U+FEFF and U+200B no", () => {
  assert.deepEqual(words("a\u0085b\u3000c\u001cd"), ["a", "b", "c", "d"]);
  assert.deepEqual(words("a\ufeffb\u200bc"), ["a\ufeffb\u200bc"]);
  assert.equal(strip("\u3000a b\u00a0"), "a b");
});

test("normalizeAnswer() keeps an article glued to a letter of any script", () => {
  assert.equal(normalizeAnswer("the中 the cat"), "the中 cat");
  assert.equal(normalizeAnswer("a_b a"), "ab");
});

test("tokenF1() takes the best reference and treats yes and no as whole answers", () => {
  assert.equal(tokenF1("no", ["no way", "No!"]), 1);
  assert.equal(tokenF1("", ""), 0);
});

test("mathEquivalent() falls back to the raw texts and math() accepts several truths", () => {
  assert.ok(mathEquivalent("\\sqrt", "\\sqrt"));
  assert.ok(!mathEquivalent("\\sqrt", "\\frac"));
  assert.equal(math({ response: "\\boxed{2}", groundTruth: ["1", "2"] }).score, 1);
});

test("deepResearch() has no answer left when the end string takes the closing tag with it", () => {
  const response = "<think>t</think><answer>\\boxed{Paris}</answer>";
  for (const eosToken of [">", "</answer>", "r>"]) {
    const { score, reason, answer } = deepResearch({ response, groundTruth: "Paris", eosToken });
    assert.deepEqual([score, reason, answer], [-1, "cannot extract answer", ""]);
  }
  assert.equal(deepResearch({ response, groundTruth: "Paris", eosToken: "x" }).score, 1);
});

test("the documentation names every reward that a configuration can", async () => {
  const page = await readFile("docs/rewards.md", "utf8");
  for (const { name, words } of rewards.built) {
    assert.ok(page.includes(`\`${name}\``), name);
    assert.ok(words.length > 0, name);
  }
});
