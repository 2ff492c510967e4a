// inspect's logs: an archive of Zstandard, the same as one JSON, and archives that are none.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { zip, type ZipFaults } from "../../tests/convert/torch-files.js";
import { temporaryFolder } from "../../tests/temporary.js";
import { importRollouts } from "./import-rollouts.js";
import { readRollouts } from "./read-rollouts.js";

const log = "tests/fixtures/rollouts/inspect/sum.eval";
const folder = temporaryFolder("archives");

const imported = (bytes: Uint8Array, options = {}) => {
  const path = join(folder, "a.eval");
  writeFileSync(path, bytes);
  return importRollouts(path, options);
};
const zipped = (files: Record<string, string | Buffer>, faults: ZipFaults = { deflate: true }) =>
  zip(
    Object.entries(files).map(([name, text]) => [name, Buffer.from(text as string)]),
    faults,
  );

const sample = (more: object = {}) => ({
  ...{ id: "q", epoch: 1, target: "4" },
  messages: [
    { role: "user", content: "2+2?", source: "input" },
    { role: "assistant", content: "4", source: "generate" },
  ],
  ...more,
});

test("importRollouts() reads inspect's archives: a trajectory for each epoch", async () => {
  const read = await importRollouts(log);
  assert.equal(read.format, "inspect");
  assert.equal(read.rows, 2);
  assert.equal(read.prompts.length, 1);
  const tree = read.tree(0);
  const call =
    'tool call for tool add\n<tool_call>\n{"name":"add","arguments":{"a":20,"b":22}}\n</tool_call>';
  const found = tree.nodes.map(({ kind, text, tool }) => [kind, text.trim(), tool?.text]);
  assert.deepEqual(found[0], ["model", call, undefined]);
  assert.deepEqual([found[1]![0], found[1]![2]], ["tool", "42.0"]);
  assert.equal(tree.nodes[1]!.tool!.input, '{"a":20,"b":22}');
  assert.deepEqual(
    tree.trajectories.map(({ end, text }) => [end, text.endsWith("It is 42")]),
    [
      ["answer", true],
      ["answer", true],
    ],
  );
  assert.deepEqual(read.prompts[0]!.scores, [1, 1]);
  assert.equal(read.scoredOf(0)!.trajectories[0]!.score.reason, "It is 42");
  assert.equal(tree.task.groundTruth, "42");
  assert.match(String(read), /rewards +the value of the first score/);
});

test("inspect's logs as JSON: scores of several values, examples in the task, limits, errors", () => {
  const rows = [
    sample({ scores: { match: { value: "P" }, judge: { value: { tone: 0.25, facts: true } } } }),
    sample({ epoch: 2, scores: { match: { value: "0.75" } }, limit: { type: "token" } }),
    // It failed before the model said anything.
    sample({ epoch: 3, messages: [{ role: "user", content: "2+2?" }], error: { message: "x" } }),
  ];
  const file = { version: 2, eval: { task: "sum" }, samples: rows };
  const read = readRollouts([file]);
  assert.equal(read.format, "inspect");
  assert.deepEqual(read.prompts[0]!.scores, [0.5, 0.75]);
  assert.deepEqual(
    read.tree(0).trajectories.map(({ end }) => end),
    ["answer", "length"],
  );
  assert.deepEqual(read.scoredOf(0)!.trajectories[0]!.score.parts, {
    ...{ match: 0.5, "judge/tone": 0.25, "judge/facts": 1 },
  });
  const chosen = readRollouts([file], { score: ["judge/tone", "judge/facts"] });
  assert.deepEqual(chosen.prompts[0]!.scores, [1.25, 0]);

  const content = [
    { type: "reasoning", reasoning: "two and two" },
    { type: "text", text: "4" },
  ];
  const shot = [
    { role: "user", content: "1+1?", source: "input" },
    { role: "assistant", content: "2", source: "input" },
  ];
  const tool = { role: "tool", function: "add", tool_call_id: "c", content: "", error: { type: "timeout", message: "too slow" } }; // prettier-ignore
  const asked = { role: "assistant", content: "", tool_calls: [{ id: "c", function: "add", arguments: {} }] }; // prettier-ignore
  const messages = [...shot, { role: "user", content: "2+2?" }, asked, tool, { role: "assistant", content }]; // prettier-ignore
  const tree = readRollouts([sample({ messages })]).tree(0);
  assert.match(tree.prompt.text, /1\+1\?[^]*2[^]*2\+2\?/);
  assert.equal(tree.nodes[1]!.tool!.text, "too slow");
  assert.match(tree.nodes[2]!.text, /^<think>\ntwo and two\n<\/think>\n\n4$/);
});

test("an answer of one message keeps its tokens and their log-probabilities", () => {
  const tokens = ["It", " is", " 4"].map((token, i) => ({ token, logprob: -(i + 1) / 8 }));
  const choices = [{ stop_reason: "max_tokens", logprobs: { content: tokens } }];
  const messages = [
    { role: "user", content: "2+2?" },
    { role: "assistant", content: "It is 4" },
  ];
  const [tree] = readRollouts([sample({ messages, output: { model: "m", choices } })]).trees;
  assert.deepEqual([...tree!.trajectories[0]!.logprobs], [-0.125, -0.25, -0.375]);
  assert.equal(tree!.trajectories[0]!.end, "length");
  assert.equal(tree!.policy, "m");
});

test("archives that are damaged, dishonest or without end are refused", async () => {
  const whole = readFileSync(log);
  for (const cut of [1, 25, 400, 5000, whole.length - 10]) {
    await assert.rejects(
      imported(whole.subarray(0, whole.length - cut)),
      /^SyntaxError: Cannot read .*a\.eval: .* must .*, got /s,
      `${cut} bytes cut`,
    );
  }
  await assert.rejects(
    imported(Buffer.from("{}")),
    /must be a zip archive, got 2 bytes that begin/,
  );
  // A byte of a compressed record is another.
  const other = Buffer.from(whole);
  const at = other.indexOf("samples/q1_epoch_1.json") + 500;
  other[at] = other[at]! ^ 0x55;
  await assert.rejects(imported(other), /Cannot read .*epoch_1\.json must .*, got/);
  // A frame of 64 MB in 135 bytes, where the directory says 135.
  const blocks = Array.from(
    { length: 32 },
    (_, i) =>
    [(0x200000 << 3) | 2 | Number(i === 31)].flatMap((head) => [head & 255, (head >> 8) & 255, (head >> 16) & 255, 32]), // prettier-ignore
  ).flat();
  const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 4, ...blocks]);
  await assert.rejects(
    imported(zipped({ "samples/a.json": frame }, { method: 93 })),
    /Cannot read .*samples\/a\.json must (?:be Zstandard|have checksum)/,
  );
  await assert.rejects(
    imported(zipped({ "samples/a.json": "x" }, { method: 12 })),
    /must be stored uncompressed \(method 0\), by DEFLATE \(8\) or Zstandard \(93\), got 12/,
  );
});

test("records of an archive that cannot be read are listed: too long, no JSON, broken UTF-8, too deep", async () => {
  const good = JSON.stringify(sample());
  const files = {
    "header.json": "{",
    "samples/a.json": Buffer.alloc((128 << 20) + 1, " "),
    "samples/b.json": "{",
    "samples/c.json": Buffer.from([0xff, 0xfe, 0x7b]),
    "samples/d.json": `{"id":"q","epoch":1,"messages":${"[".repeat(1e5)}${"]".repeat(1e5)}}`,
    "samples/e.json": good,
    "samples/f.json": good.replace("q", "\u00e9").replace("2+2?", "\ud800?"),
  };
  const read = await imported(zipped(files));
  assert.equal(read.rows, 2);
  assert.deepEqual(
    read.broken.map(({ line }) => line),
    [1, 2, 3, 4],
  );
  assert.match(read.broken[0]!.reason, /samples\/a\.json must have at most 134217728 bytes, got 134217729/); // prettier-ignore
  assert.match(read.broken[1]!.reason, /samples\/b\.json must be JSON, got "\{"/);
  assert.match(read.broken[2]!.reason, /samples\/c\.json must be JSON, got/);
  assert.match(read.broken[3]!.reason, /at most 500 lists and objects within each other/);
  await assert.rejects(imported(zipped({ "header.json": "{}" })), /it must be one of .*, got no record/); // prettier-ignore
});
