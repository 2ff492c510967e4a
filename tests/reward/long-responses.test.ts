import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const url = (entry: string) => new URL(`../../src/api/${entry}.js`, import.meta.url).href;
/** What reads a response, and texts of megabytes that hold what it looks for and never what ends that. */
const program = `
  import { deepResearch, exactMatch, extractAnswer, gsm8k, math, substringMatch } from "${url("learn")}";
  import { evaluateItem } from "${url("experimental/evaluation")}";
  const count = 300_000;
  const texts = ["<answer>", "</answer>", "<search><result>", "<result>", " "].flatMap((piece) => {
    const text = piece.repeat(count);
    return [text, "x" + text + "x", "<think>t</think><answer>\\\\boxed{" + text + "}</answer>"];
  });
  for (const response of texts) {
    const judged = { response, groundTruth: "x" };
    for (const reward of [deepResearch, exactMatch, substringMatch, math, gsm8k]) reward(judged);
    extractAnswer(response);
    evaluateItem({ input: "", answer: "x", prediction: "y", output: response }, "qa");
  }
`;

// Reading 1.6 MB took a minute when each piece was looked up to the end: here that would be many.
test("rewards and metrics read a response of megabytes that never closes what it opens", () => {
  const { status, signal, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", program],
    { timeout: 120_000, encoding: "utf8", cwd: fileURLToPath(new URL(".", import.meta.url)) },
  );
  assert.deepEqual([status, signal], [0, null], stderr);
});
