import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runToEnd } from "../training-run.js";

const home = () => mkdtemp(join(tmpdir(), "arpo-lab-commands-"));

test("sample shows answers with what was wanted, and sums up format and tool use", async () => {
  const calculator = "actor_rollout_ref.rollout.tools.tool_instances.python.class_path=calculator";
  const { status, output } = await runToEnd(["sample", "--greedy", "--tasks", "3", calculator]);
  assert.equal(status, 0, output);
  assert.match(output, /--- calc-test-0: What is .*\?\n<think>/);
  assert.match(output, /score 1.00: .*; wanted \d+; ended by answer after \d+ tokens/);
  assert.match(output, /3 answers of tiny, greedy: mean score/);
  assert.match(output, /called a tool +3 of 3 \(100%\)\n[^]*calls of python +3\n/);
  const without = await runToEnd(["sample", "--tasks", "2", "actor_rollout_ref.rollout.mode=sync"]);
  assert.match(without.output, /called a tool +0 of 2/);
});

test("subset keeps the shares of a column and says what it took", async () => {
  const folder = await home();
  const from = join(folder, "all.jsonl");
  const rows = Array.from({ length: 40 }, (_, i) => ({
    question: `${i}`,
    answer: "1",
    data_source: i === 7 ? "rare" : i % 4 === 0 ? "some" : "many",
  }));
  await writeFile(from, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const to = join(folder, "subset.jsonl");
  const { status, output } = await runToEnd(["subset", from, to, "--rows", "9"]);
  assert.equal(status, 0, output);
  assert.match(output, /9 of 40 rows[^]*by data_source: 6 many, 1 rare, 2 some/);
  const first = await readFile(to, "utf8");
  assert.equal(first.trim().split("\n").length, 9);
  await runToEnd(["subset", from, to, "--rows", "9"]);
  assert.equal(await readFile(to, "utf8"), first);
  const other = await runToEnd(["subset", from, join(folder, "subset.parquet")]);
  assert.match(other.output, /the file must end in .jsonl, got .*subset.parquet/);
  await rm(folder, { recursive: true });
});

test("compare draws curves of runs and of seeds, and names a metric that is near", async () => {
  const folder = await home();
  const run = async (name: string, values: readonly number[]) => {
    const path = join(folder, name);
    await mkdir(path);
    const lines = values.map((value, i) => ({ step: i + 1, "critic/score/mean": value }));
    await writeFile(
      join(path, "metrics.jsonl"),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
    return path;
  };
  const a = await run("a", [0, 0.5, 1]);
  const b = await run("b", [0.2, 0.3, 0.4]);
  const svg = join(folder, "curves.svg");
  const { status, output } = await runToEnd(["compare", a, `both=${a},${b}`, "--out", svg]);
  assert.equal(status, 0, output);
  assert.match(output, /a +▁▅█ +0 +1 +1 +3\n/);
  assert.match(output, /both +\S{3} +0.1 +0.7 +0.7 +3 {2}mean of 2 seeds/);
  assert.match(output, /both 0.7 ± \d+\.\d+ \(2 seeds, 95%\)/);
  assert.match(await readFile(svg, "utf8"), /<svg/);
  const near = await runToEnd(["compare", a, "--metric", "critic/score/men"]);
  assert.equal(near.status, 1);
  assert.match(near.output, /did you mean critic\/score\/mean\?/);
  const none = await runToEnd(["compare", join(folder, "none")]);
  assert.match(none.output, /Cannot read the run .*none: metrics.jsonl must be there/);
  await rm(folder, { recursive: true });
});
