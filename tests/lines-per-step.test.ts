import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "./temporary.js";

const dist = new URL("../", import.meta.url).href;
const root = fileURLToPath(new URL("../../", import.meta.url));
const program = `
const { trainOn } = await import("${dist}src/run/trainer/train-cells.js");
const { evaluate } = await import("${dist}src/eval/evaluate.js");
const { fineTune } = await import("${dist}src/learn/sft/fine-tune.js");
const { Model } = await import("${dist}src/model/transformer/transformer.js");
const { ModelPolicy } = await import("${dist}src/policy/policy-from-model.js");
const { HfTokenizer } = await import("${dist}src/model/tokenizer/hf-tokenizer.js");
const { trainBpe } = await import("${dist}src/model/tokenizer/train-bpe.js");
const tokenizer = new HfTokenizer(trainBpe(["low"], { vocabSize: 300 }));
const sizes = { hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2, contextLength: 128 };
const policy = new ModelPolicy(Model.init({ ...sizes, vocabSize: 300 }, 1), tokenizer);
const quiet = process.argv.includes("--quiet");
const tuning = await fineTune(policy, [{ prompt: "a", completion: "b" }], { epochs: 2, quiet });
const tools = [{ name: "x", tag: "x", description: "", execute: () => "" }];
await trainOn(policy, [{ prompt: "a" }], {
  ...{ preset: "grpo", steps: 2, prompts: 1, n: 2, responseLength: 4, tools, quiet },
  reward: () => 0,
});
await evaluate(policy, [{ prompt: "a", groundTruth: "b" }], { responseLength: 4, quiet });
`;
const path = join(temporaryFolder("arpo-lab-lines"), "program.mjs");
writeFileSync(path, program);
const terminal = "data:text/javascript,process.stdout.isTTY=true";
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [...args.slice(0, -1), path, ...args.slice(-1)], {
    cwd: root,
  });

const notes = (stderr: string) => stderr.replace(/^arpo-lab: tensors.*\n/m, "");

/** What the program prints of its steps and of what it found. */
function checkLines(text: string): void {
  const lines = text.trimEnd().split("\n");
  assert.match(lines[0]!, /^step 1\/2 · loss \d\.\d{3} · \d+ tokens( · .* left)?$/);
  assert.match(lines[2]!, /^fine-tuned: 2 steps, loss \d\.\d{3} -> \d\.\d{3} in \d+ s$/);
  assert.match(lines[3]!, /^step 1\/2 · score 0\.000 · entropy \d\.\d\d · \d tokens/);
  assert.match(lines[5]!, /^trained 2 steps, score 0\.000 -> 0\.000 in \d+ s$/);
  assert.match(
    lines[6]!,
    /^No trajectory earned a reward: \d+% were cut at 4 tokens; set responseLength\.$/,
  );
}
const broken =
  /^arpo-lab: 100% of the trajectories break the format: bad format: <think> or <\/think> not found \(1\)\. .* a reward that does not ask for it may help\.\n/m;
const uncalled =
  /^arpo-lab: no trajectory called a tool \(x\): \d+% were cut at 4 tokens; set responseLength\n/m;

test("trainOn() and fineTune() print a line per step on a terminal, and what was found, as evaluate() does", async () => {
  const { stdout, stderr } = await run("--import", terminal, "--loud");
  checkLines(stdout);
  assert.match(stderr, uncalled);
  assert.match(stderr, broken);
});

test("elsewhere they say it where notes go, in plain text, and standard output is the program's", async () => {
  const { stdout, stderr } = await run("--loud");
  assert.equal(stdout, "");
  assert.match(stderr, uncalled);
  assert.match(stderr, broken);
  checkLines(notes(stderr).replace(uncalled, "").replace(broken, ""));
  assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f]/);
});

test("nothing is printed where it is to be quiet", async () => {
  for (const how of [["--import", terminal], []]) {
    const quiet = await run(...how, "--quiet");
    assert.deepEqual([quiet.stdout, notes(quiet.stderr)], ["", ""]);
  }
});
