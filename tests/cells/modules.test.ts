import { deepEqual, equal, match, notEqual, rejects } from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { TestSession } from "./test-session.js";

const made: string[] = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A folder with these files in it. */
function folder(files: Record<string, string>): string {
  const at = realpathSync(mkdtempSync(join(tmpdir(), "arpo-lab-cells-")));
  made.push(at);
  for (const [path, text] of Object.entries(files)) put(at, path, text);
  return at;
}

let clock = 1_700_000_000;

/** Writes a file so that its time differs from any before. */
function put(at: string, path: string, text: string): void {
  const file = join(at, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  utimesSync(file, ++clock, clock);
}

const packages = {
  "node_modules/esm-only/package.json": JSON.stringify({
    name: "esm-only",
    type: "module",
    exports: {
      ".": { types: "./index.d.ts", import: "./index.js" },
      "./deep": { types: "./deep.d.ts", default: "./lib/deep.js" },
      "./data.json": "./data.json",
    },
  }),
  "node_modules/esm-only/index.js": "export const one = 1; export default class Made { n = 5 }",
  "node_modules/esm-only/index.d.ts":
    "export declare const one: 1; export default class Made { n: number } export interface Shape { side: number }",
  "node_modules/esm-only/lib/deep.js": "export const deep = () => 'deep'",
  "node_modules/esm-only/deep.d.ts": "export declare function deep(): string",
  "node_modules/esm-only/data.json": '{"k": [1, 2]}',
  "node_modules/plain-cjs/package.json": JSON.stringify({ name: "plain-cjs", main: "main.js" }),
  "node_modules/plain-cjs/main.js":
    "module.exports = { two: 2, f() { 'use strict'; return this === undefined } }",
  "node_modules/compiled-cjs/package.json": JSON.stringify({
    name: "compiled-cjs",
    main: "m.js",
    types: "m.d.ts",
  }),
  "node_modules/compiled-cjs/m.js":
    "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = function () { return 'default' }; const k = 'hid' + 'den'; exports[k] = 9",
  "node_modules/compiled-cjs/m.d.ts":
    "export default function (): string; export const hidden: number",
};

test("import finds ESM packages, their exports map and JSON", async () => {
  const s = new TestSession(folder(packages));
  equal(await s.run("import Made, { one, type Shape } from 'esm-only'; one"), 1);
  equal(await s.run("const shape: Shape = { side: one }; new Made().n + shape.side"), 6);
  equal(await s.run("import * as all from 'esm-only/deep'; all.deep()"), "deep");
  equal(await s.run("import data from 'esm-only/data.json' with { type: 'json' }; data.k[1]"), 2);
  equal(await s.run("import again from 'esm-only/data.json'; again.k.length"), 2);
  match(
    (await s.errors("import { three } from 'esm-only'"))[0] ?? "",
    /no exported member 'three'/,
  );
  match((await s.errors("import x from 'nowhere'"))[0] ?? "", /nowhere/);
  equal(await s.run("(await import('esm-only')).one"), 1);
  match(
    (await s.errors("(await import('esm-only')).one.length"))[0] ?? "",
    /'length' does not exist/,
  );
});

test("import finds CommonJS packages", async () => {
  const s = new TestSession(folder(packages));
  equal(await s.run("import plain, { two } from 'plain-cjs'; two + plain.two"), 4);
  equal(await s.run("import { f } from 'plain-cjs'; f()"), true);
  equal(await s.run("import made, { hidden } from 'compiled-cjs'; made() + hidden"), "default9");
  equal(await s.run("import old = require('plain-cjs'); old.two"), 2);
  equal(await s.run("require('plain-cjs').two"), 2);
  equal(
    await s.run(
      "const { join } = require('node:path') as typeof import('node:path'); join('a', 'b')",
    ),
    "a/b",
  );
});

test("import finds Node's own modules", async () => {
  const s = new TestSession(folder({}));
  equal(await s.run("import { basename } from 'node:path'; basename('/a/b')"), "b");
  equal(
    await s.run(
      "import * as os from 'os'; import fs from 'fs'; typeof os.cpus + typeof fs.readFileSync",
    ),
    "functionfunction",
  );
  match((await s.errors("const n: number = basename('a')"))[0] ?? "", /'string' is not assignable/);
});

test("import compiles local TypeScript and loads it anew when it changes", async () => {
  const at = folder({
    "util.ts":
      "import { base } from './lib/base.js'; export let runs = 0; export function up(n: number): number { runs++; return n + base }",
    "lib/base.ts": "export const base = 10; export type Id = string",
    "other.ts": "export const stamp = {}",
  });
  const s = new TestSession(at);
  const use =
    "import { up, runs } from './util'; import type { Id } from './lib/base'; const id: Id = 'x'; up(1)";
  equal(await s.run(use), 11);
  equal(await s.run("runs"), 1, "imports are live");
  equal(await s.run(use), 12 - 1);
  equal(await s.run("runs"), 2, "unchanged files are not evaluated twice");
  await s.run("import { stamp } from './other'; const first = stamp");
  put(at, "lib/base.ts", "export const base = 100; export type Id = string");
  equal(await s.run(use), 101, "what an import imports counts");
  equal(await s.run("import { stamp as second } from './other'; first === second"), true);
  put(at, "util.ts", "export const up = (s: string) => s.length; export const runs = 'none'");
  match((await s.errors(use))[0] ?? "", /'number' is not assignable to parameter of type 'string'/);
  equal(await s.run("import { up as len } from './util.ts'; len('four')"), 4);
});

test("import names the errors of a local file, and forgets them when it is fixed", async () => {
  const at = folder({
    "bad.ts": "export const a: number = 1\nexport const b = (;",
    "top.ts": "export * from './bad'",
  });
  const s = new TestSession(at);
  const [error] = await s.errors("1\nimport { a } from './top'");
  match(error ?? "", /^2:19 bad\.ts:2:19 - Expression expected/);
  put(at, "bad.ts", "export const a: number = 'typed wrongly'");
  match((await s.errors("import { a } from './top'"))[0] ?? "", /bad\.ts:1:14 - Type 'string'/);
  equal(await s.run("// @ts-nocheck\nimport { a } from './top'; a"), "typed wrongly");
  put(at, "bad.ts", "export const a: number = 7");
  equal(await s.run("import { a } from './top'; a"), 7);
});

test("import evaluates cycles, default exports, namespaces and top-level await", async () => {
  const at = folder({
    "a.ts":
      "import { b, callA } from './b'; export const name = 'a'; export function hello() { return 'hello ' + b } export const viaB = callA()",
    "b.ts":
      "import { hello } from './a'; export const b = 'b'; export const callA = () => typeof hello",
    "forms.ts":
      "export default class { v = 1 }; export * as inner from './b'; export { name as renamed } from './a'; export enum E { X = 3 } export namespace N { export const k = 4 } const w = await Promise.resolve(5); export { w }; export type Only = 1",
    "expr.ts": "export default 6 * 7",
    "fn.ts": "export default function named() { return named.name }",
  });
  const s = new TestSession(at);
  equal(await s.run("import * as a from './a'; a.hello() + a.viaB"), "hello bfunction");
  deepEqual(
    await s.run(
      "import D, { inner, renamed, E, N, w } from './forms'; [new D().v, inner.b, renamed, E.X, N.k, w]",
    ),
    [1, "b", "a", 3, 4, 5],
  );
  equal(
    await s.run("import answer from './expr'; import fn from './fn'; answer + fn()"),
    "42named",
  );
});

test("import loads local JavaScript, CommonJS and JSON", async () => {
  const at = folder({
    "esm.mjs": "export const m = 1; export const where = import.meta.url",
    "mod.js":
      "export const j = 2; export async function later() { return (await import('./esm.mjs')).m }",
    "old.cjs": "module.exports = { c: 3, __dirname }",
    "data.json": '{"rows": [{"q": 1}], "a b": 2}',
  });
  const s = new TestSession(at);
  equal(await s.run("import { m, where } from './esm.mjs'; where"), `file://${at}/esm.mjs`);
  equal(await s.run("import { j, later } from './mod.js'; await later() + j"), 3);
  equal(await s.run("import old from './old.cjs'; old.c"), 3);
  equal(await s.run("import data, { rows } from './data.json'; data.rows[0]!.q + rows.length"), 2);
  put(at, "data.json", '{"rows": []}');
  equal(await s.run("import data, { rows } from './data.json'; data.rows.length"), 0);
  put(at, "old.cjs", "module.exports = { c: 4 }");
  equal(await s.run("import old from './old.cjs'; old.c"), 4);
});

test("import() takes a name made at run time", async () => {
  const at = folder({
    "dyn.ts": "export const v: number = 3",
    "sub/x.ts": "export const here = import.meta.dirname",
  });
  const s = new TestSession(at);
  equal(await s.run("const file = './dyn' + '.ts'; (await import(file)).v"), 3);
  equal(await s.run("(await import('./sub/x.ts')).here"), join(at, "sub"));
  await rejects(s.run("await import('./no' + '.ts')"), /no\.ts/);
  deepEqual(await s.run("[import.meta.dirname, __dirname]"), [at, at]);
});

test("import of the kernel and of tslab works in a folder without packages", async () => {
  const s = new TestSession(folder({}));
  equal(await s.run("import { display } from 'arpo-lab/kernel'; typeof display"), "function");
  equal(await s.run("import * as tslab from 'tslab'; typeof tslab.display.html"), "function");
  match((await s.errors("tslab.display.html(5)"))[0] ?? "", /'number' is not assignable/);
  notEqual(await s.run("tslab.newDisplay()"), undefined);
});

test("import finds this package from its own folder", async () => {
  const s = new TestSession(process.cwd());
  equal(await s.run("import { Random } from 'arpo-lab/policy'; typeof Random"), "function");
});

test("the kernel's package is there wherever the notebook lies, for cells and the files they import", async () => {
  const at = folder({
    "lib.ts": `import { Random } from "arpo-lab/policy"; import { formatValue } from "arpo-lab/kernel";
      export const draw = (seed: number): string => String(formatValue(typeof Random.from(seed).uniform())["text/plain"]);`,
    "plain.js": `import * as policy from "arpo-lab/policy"; export const names = Object.keys(policy).filter((name) => name.startsWith("Ra"));`,
  });
  const s = new TestSession(at);
  equal(await s.run(`import { Random } from "arpo-lab/policy"; typeof Random`), "function");
  equal(await s.run(`typeof (await import("arpo-lab")).rollout`), "function");
  deepEqual(await s.run(`import { names } from "./plain.js"; names`), ["Random"]);
  equal(await s.run(`import { draw } from "./lib.ts"; draw(1)`), "'number'");
  equal(await s.run(`typeof require("arpo-lab/policy").Random`), "function");
  match((await s.errors("const n: number = draw(1)")).join(), /Type 'string' is not assignable/);
  match((await s.errors("const r: string = Random")).join(), /Type 'typeof Random'/);
  match(
    (await s.errors(`import { x } from "arpo-lab/nowhere"`)).join(),
    /Cannot find module 'arpo-lab\/nowhere'/,
  );
});

test("an arpo-lab of the notebook's own comes before the kernel's", async () => {
  const s = new TestSession(
    folder({
      "node_modules/arpo-lab/package.json": JSON.stringify({
        name: "arpo-lab",
        type: "module",
        exports: {
          "./policy": { types: "./r.d.ts", default: "./r.js" },
          "./package.json": "./package.json",
        },
      }),
      "node_modules/arpo-lab/r.js": "export const local = 1",
      "node_modules/arpo-lab/r.d.ts": "export declare const local: number",
    }),
  );
  equal(await s.run(`import { local } from "arpo-lab/policy"; local`), 1);
  match((await s.errors(`import { Random } from "arpo-lab/policy"`)).join(), /'Random'/);
  equal(await s.run(`import { display } from "arpo-lab/kernel"; typeof display`), "function");
});
