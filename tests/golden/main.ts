import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { difference } from "./compare.js";
import { runners as evaluation } from "./eval.js";
import { runners as learn } from "./learn.js";
import { runners as reward } from "./reward.js";
import { runners as rollout } from "./rollout.js";
import { runners as tensor } from "./tensor.js";
import { runners as tools } from "./tools.js";
import type { Runner } from "./runner.js";

interface VectorFile {
  name: string;
  precision?: string;
  cases: { input: unknown; expected: unknown }[];
}

const runners: Record<string, Runner | undefined> = {
  ...tensor,
  ...rollout,
  ...tools,
  ...reward,
  ...learn,
  ...evaluation,
};

async function check(file: VectorFile, run: Runner): Promise<string[]> {
  const exact = file.precision === "exact";
  const tolerance = file.precision?.startsWith("float64")
    ? { relative: 1e-9, absolute: 1e-12 }
    : { relative: exact ? 0 : 1e-12, absolute: exact ? 0 : 1e-12 };
  const failures: string[] = [];
  for (const [i, { input, expected }] of file.cases.entries()) {
    let found: string | undefined;
    try {
      found = difference(await run(input), expected, tolerance);
    } catch (error) {
      found = `threw ${String(error instanceof Error ? error.stack : error)}`;
    }
    if (found) failures.push(`  case ${i}: ${found}`);
  }
  return failures;
}

/** Prints a line per vector file of a folder and a closing count; the exit status. */
export async function checkVectors(dir: string | undefined): Promise<number> {
  if (dir === undefined) {
    console.error(
      "Cannot check vectors: name the folder, as in `npm run vectors -- tests/vectors`",
    );
    return 2;
  }
  const names = (await readdir(dir)).filter((f) => f.endsWith(".json")).sort();
  let passed = 0;
  let failed = 0;
  for (const name of names) {
    const file = JSON.parse(await readFile(join(dir, name), "utf8")) as VectorFile;
    const run = runners[file.name];
    if (!run) {
      console.log(`${file.name}: not covered yet`);
      continue;
    }
    const failures = await check(file, run);
    const good = file.cases.length - failures.length;
    console.log(`${file.name}: ${good}/${file.cases.length}`);
    for (const line of failures.slice(0, 3)) console.log(line);
    passed += good;
    failed += failures.length;
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 || passed === 0 ? 1 : 0;
}
