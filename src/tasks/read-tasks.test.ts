import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sharedData } from "../../tests/shared-data.js";
import { batches } from "./batches.js";
import { parseCsv, readRows } from "./read-rows.js";
import { readTasks } from "./read-tasks.js";
import { taskFromRow } from "./rl-row.js";
import { question } from "./task.js";
import { temporaryFolder } from "../../tests/temporary.js";

async function file(name: string, text: string): Promise<string> {
  const path = join(temporaryFolder("arpo-lab-data"), name);
  await writeFile(path, text);
  return path;
}

const train = sharedData("rl/train_10k.parquet");
test(
  "readTasks() reads the published RL file and mends its boxed command",
  { skip: train.missing },
  async () => {
    const tasks = await readTasks(train.path);
    assert.equal(tasks.length, 10_000);
    assert.equal(new Set(tasks.map((t) => t.id)).size, 10_000);
    assert.equal(tasks.filter((t) => t.ability === "math").length, 5_000);
    const [first] = tasks;
    assert.match(first!.prompt[0]!.content, /\\boxed\{answer here\}/);
    assert.equal(first!.groundTruth, "3\\sqrt{3} - 6");
    assert.equal(first!.extra["question"], question(first!));
    const [asIs] = await readTasks(train.path, { repairBoxed: false });
    assert.match(asIs!.prompt[0]!.content, /\boxed/);
  },
);

const hard = sharedData("rl/hard_search_1k.parquet");
test("readTasks() reads rows whose optional columns are null", { skip: hard.missing }, async () => {
  const tasks = await readTasks(hard.path);
  assert.equal(tasks.length, 1_071);
  assert.ok(tasks.some((t) => t.ability === null));
});

test("taskFromRow() keeps the other columns and refuses what is no prompt", () => {
  const task = taskFromRow({ question: "q?", answer: ["a", "b"], data_source: "toy", level: 3 }, 4);
  assert.deepEqual([task.groundTruth, task.dataSource], [["a", "b"], "toy"]);
  assert.equal(task.extra!["level"], 3);
  assert.throws(
    () => taskFromRow({ prompt: 3, answer: "a" }, 7),
    /Cannot read row 7: the prompt must/,
  );
  assert.throws(
    () => taskFromRow({ prompt: "q", answer: { text: "a" } }, 1),
    /ground_truth must be text/,
  );
});

test("taskFromRow() takes GSM8K's answer from the end of its solution", () => {
  const row = { question: "How many?", answer: "48/2 = <<48/2=24>>24\nSo #### no.\n#### 1,224" };
  assert.equal(taskFromRow(row, 0).groundTruth, "1224");
  assert.equal(taskFromRow({ ...row, answer: "7 #### 8" }, 0).groundTruth, "7 #### 8");
});

test("taskFromRow() reads a row without an answer", () => {
  const task = taskFromRow({ prompt: "Write a poem." }, 1);
  assert.ok(!("groundTruth" in task));
});

test("readRows() names the file, the line and the rule", async () => {
  await assert.rejects(
    readRows(await file("a.jsonl", '{"a":1}\nnope\n')),
    /line 2 must be a JSON value/,
  );
  await assert.rejects(
    readRows(await file("a.csv", "a,b\n1\n")),
    /record 1 must have 2 fields, got 1/,
  );
  await assert.rejects(
    readRows("/no/such.parquet"),
    /Cannot read \/no\/such.parquet: there must be a file, got none/,
  );
  await assert.rejects(
    readRows(await file("a.parquet", "not parquet")),
    /must be a readable .parquet/,
  );
  await assert.rejects(readRows("a.xls"), /must end in .parquet, .jsonl, .json or .csv, got .xls/);
});

test("parseCsv() keeps quotes, commas and line ends inside quoted fields", () => {
  assert.deepEqual(parseCsv('a,"b ""c"", d\ne"\r\n,x\n'), [
    ["a", 'b "c", d\ne'],
    ["", "x"],
  ]);
  assert.throws(() => parseCsv('"open'), /every quote must be closed/);
});

test("batches() gives each epoch an order of its own and never repeats within one", () => {
  const data = Array.from({ length: 10 }, (_, i) => i);
  const all = [...batches(data, { batchSize: 5, shuffle: true, seed: 3, epochs: 2 })];
  const epochs = [all.slice(0, 2), all.slice(2)].map((e) => e.flatMap((b) => b.items));
  for (const items of epochs)
    assert.deepEqual(
      [...items].sort((a, b) => a - b),
      data,
    );
  assert.notDeepEqual(epochs[0], epochs[1]);
  assert.throws(() => [...batches(data, { batchSize: 11 })], /from 1 to .*\(10\), got 11/);
});
