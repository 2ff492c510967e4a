import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import ts from "typescript";
import { DoesNotCompile, TestSession } from "../../../tests/cells/test-session.js";
import { temporaryFolder } from "../../../tests/temporary.js";
import { isDeclaredLater, libraryFolder, namesLater, withComments } from "./library.js";

const stock = dirname(createRequire(import.meta.url).resolve("typescript"));
const printer = ts.createPrinter({ removeComments: true });

/** The statements of a declaration file, without comments, in order. */
function statements(folder: string, name: string): string[] {
  const path = join(folder, name);
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  return file.statements.map((node) => printer.printNode(ts.EmitHint.Unspecified, node, file));
}

/** What documents the declarations of a file, in order. */
const comments = (folder: string, name: string): string[] => {
  const path = join(folder, name);
  const text = existsSync(path) ? withComments(path, readFileSync(path, "utf8")) : "";
  return text.match(/\/\*\*[^]*?\*\//g) ?? [];
};

test("the library in two parts, with its comments, is TypeScript's", () => {
  const files = readdirSync(stock).filter((name) =>
    /^lib\.(es5|es20\d\d|esnext|decorators)\b.*\.d\.ts$/.test(name),
  );
  assert.ok(files.length > 80);
  let later = 0;
  for (const name of files) {
    const rest = name.replace(".d.ts", ".later.d.ts");
    const parts = [...statements(libraryFolder, name), ...statements(libraryFolder, rest)];
    later += statements(libraryFolder, rest).length;
    assert.deepEqual(parts.sort(), statements(stock, name).sort(), name);
    const told = [...comments(libraryFolder, name), ...comments(libraryFolder, rest)];
    assert.deepEqual(told.sort(), comments(stock, name).sort(), name);
  }
  assert.ok(later > 30);
  assert.equal(isDeclaredLater(join(libraryFolder, "lib.es5.later.d.ts")), true);
  assert.equal(isDeclaredLater(join(libraryFolder, "lib.es5.d.ts")), false);
  assert.equal(namesLater("new Float32Array(3)"), true);
  assert.equal(namesLater("Math.PI"), false);
});

test("a first cell is checked against what it names, however it does", async () => {
  for (const [wrong, right] of [
    ["const a: string = new Float32Array(3)", "new Float32Array(3).fill(2)[1]"],
    [
      "const b: string = new globalThis.DataView(new ArrayBuffer(8))",
      "globalThis.Float64Array.of(2)[0]",
    ],
    ["const c: string = Fl\\u006fat32Array.of(1)", "Fl\\u006fat32Array.of(2)[0]"],
    [
      "let d: Uint8Array = {}",
      "(() => { let d: Uint8Array = new Uint8Array([2]); return d[0]; })()",
    ],
    ["let e: keyof typeof globalThis = 'Atomic'", "let e: keyof typeof globalThis = 'Atomics'; 2"],
  ] as const) {
    const folder = temporaryFolder("library");
    await assert.rejects(new TestSession(folder).run(wrong), DoesNotCompile, wrong);
    assert.equal(await new TestSession(folder).run(right), 2, right);
  }
});

test("inspect() shows the library's comments, in its source too", async () => {
  const session = new TestSession(temporaryFolder("library"));
  const { compiler, folder } = session;
  const plain = async (source: string, detail: 0 | 1): Promise<string> =>
    String((await compiler.inspect(source, source.length, detail, folder))?.["text/plain"]);
  assert.match(await plain("parseFloat", 0), /Converts a string to a floating-point number/);
  assert.match(await plain("Float32Array.from", 0), /Creates an array from an array-like/);
  const source = await plain("let found: RegExpMatchArray", 1);
  assert.match(source, /\* The index of the search at which the result was found/);
  assert.doesNotMatch(source, /\/\*\*\d+\*\//);
});
