import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import prettier from "prettier";

// The published tables of docs/evidence are those of its data files.
const root = new URL("../../../", import.meta.url);
const docs = fileURLToPath(new URL("docs/evidence", root));
const { readEvidence, tables } = (await import(
  new URL("docs/evidence/study/tables.mjs", root).href
)) as {
  readEvidence: (folder: string, study: Study) => Evidence;
  tables: (evidence: Evidence, study: Study) => Record<string, string>;
};
/** Of docs/evidence/study/settings.mjs: the page that a study is published on, and the folder of its data. */
interface Study {
  page: string;
  data: string;
  cells: unknown[];
}
const settings = (await import(new URL("docs/evidence/study/settings.mjs", root).href)) as Record<
  "tiny" | "real",
  Study
>;
const { withTables } = (await import(new URL("docs/evidence/study/page.mjs", root).href)) as {
  withTables: (page: string, tables: Record<string, string>) => string;
};
const { gather, readTraining, readTrees } = (await import(
  new URL("docs/evidence/study/training-data.mjs", root).href
)) as {
  gather: (folder: string) => string;
  readTraining: (folder: string) => Training;
  readTrees: (folder: string) => string;
};
const { trainingTables } = (await import(
  new URL("docs/evidence/study/training-tables.mjs", root).href
)) as { trainingTables: (runs: Training, trees: string) => Promise<Record<string, string>> };
/** Lines of runs by family, arm and seed. */
type Training = Record<string, Record<string, Map<number, Record<string, number>[]>>>;
interface Evidence {
  cells: { name: string; records: { index: number; score: number }[] }[];
  decisions: unknown[];
}

const formatted = async (text: string) =>
  prettier.format(text, { ...(await prettier.resolveConfig(docs)), parser: "markdown" });

const made: Record<string, Record<string, string>> = {};
for (const study of [settings.tiny, settings.real]) {
  test(`the tables of docs/evidence/${study.page} are recomputed from its data files`, async () => {
    const page = readFileSync(join(docs, study.page), "utf8");
    const evidence = readEvidence(join(docs, study.data), study);
    assert.equal(evidence.cells.length, study.cells.length);
    made[study.page] = tables(evidence, study);
    assert.equal(await formatted(withTables(page, made[study.page]!)), page);
  });
}

test("the tables of docs/evidence change with the outcomes they are made of", () => {
  const study = settings.real;
  const evidence = readEvidence(join(docs, study.data), study);
  const before = made[study.page]!["cells"];
  for (const record of evidence.cells[0]!.records.slice(0, 20)) {
    record.score = record.score > 0.5 ? -1 : 1;
  }
  assert.notEqual(tables(evidence, study)["cells"], before);
});

test("the tables of docs/evidence/part-b.md are recomputed from its data file", async () => {
  const page = readFileSync(join(docs, "part-b.md"), "utf8");
  const runs = readTraining(join(docs, "data"));
  const trees = readTrees(join(docs, "data"));
  const made = await trainingTables(runs, trees);
  assert.equal(await formatted(withTables(page, made)), page);
  for (const lines of runs["multihop"]!["uniform"]!.values())
    for (const line of lines) line["held_out"]! += 0.1;
  const other = await trainingTables(runs, trees);
  assert.notEqual(other["answers"], made["answers"]);
  assert.equal(other["changed"], made["changed"]);
});

test("node docs/evidence/study/evidence.mjs b trains arms, repeats no run that is done, and gathers their figures", () => {
  const out = mkdtempSync(join(tmpdir(), "evidence-"));
  const run = () => {
    const script = fileURLToPath(new URL("docs/evidence/study/evidence.mjs", root));
    const small = ["blocks=1", "seeds=1", "only=multihop", "tokens=2000", "arms=coin;group-mixed"];
    return spawnSync(process.execPath, [script, "b", out, ...small], { encoding: "utf8" });
  };
  try {
    const made = run();
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stdout, /multihop seed 101: coin, group-mixed/);
    const lines = gather(out).trim().split("\n");
    assert.match(lines[0]!, /^family,arm,seed,step,tokens,calls,.*,held_out$/);
    assert.deepEqual(
      lines.slice(1).map((line) => line.split(",").slice(0, 4).join(" ")),
      ["multihop coin 101 1", "multihop group-mixed 101 1"],
    );
    for (const line of lines.slice(1)) {
      const [tokens, heldOut] = [line.split(",")[4], line.split(",").at(-1)].map(Number);
      assert.ok(tokens! > 2000 && tokens! < 3500, line);
      assert.ok(heldOut! > -1 && heldOut! < 1, line);
    }
    assert.equal(run().status, 0);
    assert.equal(gather(out), `${lines.join("\n")}\n`);
  } finally {
    rmSync(out, { recursive: true });
  }
});

test("node docs/evidence/study/evidence.mjs measures a cell, resumes where it stopped, and names what is wrong", () => {
  const out = mkdtempSync(join(tmpdir(), "evidence-"));
  const run = (...args: string[]) => {
    const script = fileURLToPath(new URL("docs/evidence/study/evidence.mjs", root));
    return spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  };
  try {
    const made = run("a", out, "cell=lookup-shipped", "prompts=2");
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stdout, /lookup-shipped: 2 prompts/);
    const path = join(out, "values/lookup-shipped.jsonl");
    const whole = readFileSync(path, "utf8");
    assert.equal(whole.trim().split("\n").length, 3);
    writeFileSync(path, whole.slice(0, -100)); // killed in the middle of a line
    assert.equal(run("a", out, "cell=lookup-shipped", "prompts=2").status, 0);
    assert.equal(readFileSync(path, "utf8"), whole);
    assert.match(
      run("c", out).stderr,
      /Cannot gather evidence: the part must be a, real or b, .*got c /,
    );
  } finally {
    rmSync(out, { recursive: true });
  }
});
