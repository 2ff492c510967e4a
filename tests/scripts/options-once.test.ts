import assert from "node:assert/strict";
import { test } from "node:test";
import ts from "typescript";

const script = new URL("../../../tools/architecture/options-once.mjs", import.meta.url);
const { optionFaultsIn } = (await import(script.href)) as {
  optionFaultsIn(files: [string, ts.SourceFile][]): { faults: string[]; count: number };
};
const faultsIn = (text: string) =>
  optionFaultsIn([["a.ts", ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest, true)]]);

const good = `
export const paintTable = {
  /** How many layers. Default 2. */
  layers: option(integer(1), 2, key("paint.layers", "Layers, by default 2")),
  /** Which brush. Default: \`flat\`. */
  brush: option(oneOf(["flat", "round"]), "flat"),
  /** How wide. Default: as the brush. */
  width: following(integer(1)),
};
interface PaintOptions extends Given<typeof paintTable>, Named {}
interface WallOptions extends PaintOptions { /** Default: none. */ primer?: string }
`;

test("an option that a table states, with its default in words, is fine", () => {
  assert.deepEqual(faultsIn(good), { faults: [], count: 3 });
});

test("a default in words, or in help, that is not the table's is a fault", () => {
  assert.deepEqual(faultsIn(good.replace("Default 2.", "Default 3.")).faults, [
    'a.ts: paintTable.layers: its comment must say "Default 2", as the table, got 3',
  ]);
  assert.deepEqual(faultsIn(good.replace("Default: `flat`.", "")).faults, [
    'a.ts: paintTable.brush: its comment must say "Default flat", as the table, got none',
  ]);
  assert.deepEqual(faultsIn(good.replace("by default 2", "by default 4")).faults, [
    "a.ts: paintTable.layers: help must say the default 2, as the table, got 4",
  ]);
});

test("an option that is declared again by hand is a fault, also behind another interface", () => {
  assert.deepEqual(faultsIn(good.replace("primer?: string", "width?: number")).faults, [
    "a.ts: WallOptions.width: paintTable declares it, an interface must not",
  ]);
});
