import assert from "node:assert/strict";
import { test } from "node:test";

const script = new URL("../../../tools/architecture/dead-paths.mjs", import.meta.url);
type Known = object;
const { deadFilesBesideIn, deadPathsIn, pathsOf } = (await import(script.href)) as {
  pathsOf(files: readonly string[]): Known;
  deadPathsIn(path: string, text: string, known: Known): string[];
  deadFilesBesideIn(path: string, text: string, known: Known): string[];
};
const known = pathsOf(["src/run/trainer/train.ts", "docs/run.md", "tests/tab/engine.test.ts"]);
const deadIn = (path: string, text: string) => deadPathsIn(path, text, known);

test("a path in a comment or a document must be there", () => {
  const comment = [
    "/** As in `src/run/trainer/train.ts` and docs/run.md. */",
    "// It was src/run/train.ts once, trainer/train.ts is its end, and trainers/train.ts none.",
    "const notAComment = 'src/nowhere.ts';",
    "/* Nor is there src/walk/trainer, or gone.ts. */",
  ].join("\n");
  assert.deepEqual(deadIn("src/run/a.ts", comment).sort(), [
    "src/run/a.ts:2: src/run/train.ts is not there",
    "src/run/a.ts:2: trainers/train.ts is not there",
    "src/run/a.ts:4: gone.ts is not there",
    "src/run/a.ts:4: src/walk/trainer is not there",
  ]);
  assert.deepEqual(deadIn("docs/run.md", "See\n`src/run/old.ts` and `trainers/train.ts`."), [
    "docs/run.md:2: src/run/old.ts is not there",
    "docs/run.md:2: trainers/train.ts is not there",
  ]);
  assert.deepEqual(deadIn("docs/architecture.md", "`trained.ts`"), [
    "docs/architecture.md:1: trained.ts is not there",
  ]);
});

test("patterns, metrics, addresses, and files of a person's own are no paths of the repository", () => {
  const fine = [
    "`src/run/*.ts`, `src/run/NAME.ts`, `src/{a,b}/c.ts`, `tools/total_calls`, `tests/tab/engine`,",
    "https://example.org/src/gone.ts, ./src/gone.ts, `mine.ts`, runs/a.json, dist/src/api/gone.ts",
  ].join("\n");
  assert.deepEqual(deadIn("docs/own.md", fine), []);
});

test("a file that a module opens beside itself must be there, in dist or in the clone", () => {
  const code = [
    'new URL("../../run/trainer/train.js", import.meta.url);',
    'new URL("../../../../docs/run.md", import.meta.url);',
    'new URL("../../docs/run.md", import.meta.url);',
    "path('../gone.py');",
  ].join("\n");
  assert.deepEqual(deadFilesBesideIn("src/run/trainer/a.ts", code, known), [
    "src/run/trainer/a.ts:3: ../../docs/run.md is not there",
    "src/run/trainer/a.ts:4: ../gone.py is not there",
  ]);
});
