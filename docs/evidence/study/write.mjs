// Takes measurements to docs/evidence: data files, tables and the figure.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import prettier from "prettier";
import { BranchValues } from "../../../dist/src/measure/branch-values/branch-values.js";
import { readValues } from "../../../dist/src/measure/branch-values/value-record.js";
import { profilePicture } from "../../../dist/src/view/values/show-values.js";
import { withTables } from "./page.mjs";
import { readEvidence, tables } from "./tables.mjs";
import { gather, readTraining, readTrees } from "./training-data.mjs";
import { gatherCosts } from "./tree-costs.mjs";
import { trainingTables } from "./training-tables.mjs";

const docs = "docs/evidence";

async function writeTables(name, found) {
  const page = join(docs, name);
  const text = withTables(readFileSync(page, "utf8"), found);
  writeFileSync(
    page,
    await prettier.format(text, { ...(await prettier.resolveConfig(page)), filepath: page }),
  );
}

export async function writeEvidence(from, study) {
  const { cells } = study;
  const data = join(docs, study.data);
  mkdirSync(data, { recursive: true });
  for (const { name } of cells) rmSync(join(data, `${name}.jsonl.gz`), { force: true });
  const decisions = [];
  for (const { name } of cells) {
    const path = join(from, "values", `${name}.jsonl`);
    if (!existsSync(path)) continue;
    const text = readFileSync(path, "utf8");
    const { records, bytes } = readValues(text, path);
    if (records.length === 0) continue;
    const whole = Buffer.from(text, "utf8").subarray(0, bytes);
    writeFileSync(join(data, `${name}.jsonl.gz`), gzipSync(whole, { level: 9 }));
    const made = join(from, "decisions", `${name}.jsonl`);
    if (!existsSync(made)) continue;
    for (const line of readFileSync(made, "utf8").trim().split("\n")) {
      const { task, attempts, changed } = JSON.parse(line);
      decisions.push([name, task, attempts, changed].join(","));
    }
  }
  writeFileSync(
    join(data, "decisions.csv"),
    ["cell,task,attempts,changed", ...decisions, ""].join("\n"),
  );
  const evidence = readEvidence(data, study);
  await writeTables(study.page, tables(evidence, study));
  const main = evidence.cells.filter(({ control }) => !control);
  const all = new BranchValues(
    { ...main[0].settings, policy: study.label },
    main.flatMap(({ records }) => records),
  );
  writeFileSync(join(docs, study.figure), `${profilePicture(all)}\n`);
}

/** Part B: its runs as one file, and the tables of its page. */
export async function writeTraining(from) {
  const data = join(docs, "data");
  const runs = join(data, "training.csv.gz");
  writeFileSync(runs, gzipSync(gather(from, runs), { level: 9 }));
  const costs = await gatherCosts(from);
  if (costs !== undefined)
    writeFileSync(join(data, "training-trees.csv.gz"), gzipSync(costs, { level: 9 }));
  await writeTables("part-b.md", await trainingTables(readTraining(data), readTrees(data)));
}
