import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

interface Prose {
  faultsOfProse(file: string, text: string): string[];
  proseOf(markdown: string): string;
  documents(): Map<string, string[]>;
  exempt: string[];
}
const script = new URL("../../../tools/prose.mjs", import.meta.url);
const { faultsOfProse, proseOf, documents, exempt } = (await import(
  pathToFileURL(fileURLToPath(script)).href
)) as Prose;
const faults = (markdown: string) => faultsOfProse("a.md", proseOf(markdown));

test("a home-made word is refused with its file, line, word and what to write", () => {
  assert.deepEqual(faults("# Title\n\nWeights are rounded by lot.\nIt hangs on the model.\n"), [
    'a.md:3: "by lot": write stochastic rounding, at random',
    'a.md:4: "hangs on": write depends on',
  ]);
  assert.match(faults("The Gate is green.").join(), /a\.md:1: "The Gate": write CI/);
  assert.match(faults("A tree at home.").join(), /write preferred endpoint/);
});

test("a sentence of more than 35 words is refused, one of 35 is not", () => {
  const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(" ");
  assert.deepEqual(faults(`Short.\n\nShort. ${words(36)}. Short.`), [
    'a.md:3: "w0 w1 w2 w3 w4 …": 36 words; write sentences of at most 35',
  ]);
  assert.deepEqual(faults(`${words(35)}. ${words(35)}.`), []);
  assert.deepEqual(faults(`- ${words(30)}\n- ${words(30)}`), []);
});

test("code, formulas, comments and links' targets are not prose", () => {
  assert.deepEqual(
    faults("```sh\nthe gate\n```\n<!-- peers --> `lookalike` $reckon$ [CI](#the-gate)"),
    [],
  );
  assert.deepEqual(faults("Peer dependencies and room for more."), []);
});

test("help, lessons, stable doc comments and documents are read, and what is exempt exists", () => {
  const all = documents();
  for (const path of ["README.md", "notebooks/00-tour.ipynb", "apps/cli/commands/eval.ts"]) {
    assert.ok(all.has(path), path);
  }
  for (const path of exempt) assert.ok(all.has(path), path);
  assert.ok([...all.keys()].filter((path) => path.startsWith("src/")).length > 50);
});
