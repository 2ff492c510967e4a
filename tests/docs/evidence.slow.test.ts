import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
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
const { readTraining, readTrees } = (await import(
  new URL("docs/evidence/study/training-data.mjs", root).href
)) as {
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

test("distillation.md has the tables of its data", async () => {
  const script = fileURLToPath(new URL("docs/evidence/study/distillation.mjs", root));
  const { stdout, stderr } = spawnSync(process.execPath, [script, "none", "--table"], {
    encoding: "utf8",
  });
  assert.ok(stdout.includes("| statistic |"), stderr);
  const tidy = await prettier.format(stdout, { parser: "markdown" });
  const page = readFileSync(join(docs, "distillation.md"), "utf8");
  assert.equal(/<!-- tables -->\n([^]*?)<!-- \/tables -->/.exec(page)![1]!.trim(), tidy.trim());
  const real = fileURLToPath(new URL("docs/evidence/study/distillation-real.mjs", root));
  const said = spawnSync(process.execPath, [real, "--table"], { encoding: "utf8" });
  const table = await prettier.format(said.stdout, { parser: "markdown" });
  assert.ok(table.includes("| held-out "), said.stderr);
  assert.equal(/<!-- real -->\n([^]*?)<!-- \/real -->/.exec(page)![1]!.trim(), table.trim());
});
