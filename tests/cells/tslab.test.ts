// What tslab's notebooks rely on, as its documentation and its tests describe it.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { TestSession } from "./test-session.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "arpo-lab-tslab-")));
after(() => rmSync(folder, { recursive: true }));
const session = (language: "typescript" | "javascript" = "typescript"): TestSession =>
  new TestSession(folder, { language });

test("tslab: types are not strict, so that plain JavaScript habits pass", async () => {
  const s = session();
  equal(await s.run("function f(x) { return x } f(1)"), 1);
  equal(await s.run("let best = null; best = 3; best"), 3);
  equal(await s.run("const found = [1, 2].find((x) => x > 1); found.toFixed(1)"), "2.0");
  equal(await s.run("let later; later = 'a'; later.length"), 1);
});

test("tslab: a name may be declared again as anything", async () => {
  const s = session();
  for (const [source, value] of [
    ["let x = 1; x", 1],
    ["const x = 'two'; x.length", 3],
    ["function x() { return 3 } x()", 3],
    ["class x { static n = 4 } x.n", 4],
    ["enum x { A = 5 } x.A", 5],
    ["namespace x { export const n = 6 } x.n", 6],
    ["import { sep as x } from 'node:path'; x.length", 1],
    ["var x = 7; x", 7],
    ["let [x, { y }] = [8, { y: 9 }]; x + y", 17],
    ["type x = string; const v: x = 'a'; x", 8],
  ] as [string, unknown][]) {
    equal(await s.run(source), value, source);
  }
});

test("tslab: interfaces and types of earlier cells stay until they are replaced", async () => {
  const s = session();
  await s.run(
    "interface P { name: string } type Q = P | number; class K<T> { constructor(readonly t: T) {} }",
  );
  equal(await s.run("const p: P = { name: 'n' }; const q: Q = 3; new K(p).t.name"), "n");
  await s.run("interface P { age: number }");
  match(
    (await s.errors("const p2: P = { name: 'n' }"))[0] ?? "",
    /there is no name; accepted are age/,
  );
  equal(
    await s.run("const old: Q = p; p.name"),
    "n",
    "what was made of the old one keeps its type",
  );
});

test("tslab: imports are kept and replaced", async () => {
  const s = session();
  await s.run(
    "import * as fs from 'fs'; import path, { join } from 'path'; import { type Stats } from 'fs'",
  );
  equal(await s.run("join('a', path.basename('/b/c')) + typeof fs.statSync"), "a/cfunction");
  equal(await s.run("const st: Stats = fs.statSync('/'); st.isDirectory()"), true);
  await s.run("import { basename as join } from 'path'");
  equal(await s.run("join('/x/y')"), "y");
});

test("tslab: the last expression is the cell's value, undefined and null included", async () => {
  const s = session();
  equal(await s.run("let a = 1; a"), 1);
  equal(await s.run("a\n// a comment after it"), 1);
  equal(await s.run("null"), null);
  equal(await s.run("a; function g() {}"), undefined);
  equal(await s.run("a; export { a }"), 1);
  equal(await s.run("const tsLastExpr = 10; tsLastExpr + 1"), 11);
  equal(typeof (await s.run("(() => a)")), "function");
});

test("tslab: top-level await, for await and async functions", async () => {
  const s = session();
  equal(
    await s.run(
      "const sleep = (ms: number) => new Promise<void>((r) => setTimeout(r, ms)); await sleep(1); 'slept'",
    ),
    "slept",
  );
  equal(await s.run("async function f() { await sleep(1); return 2 } await f()"), 2);
  equal(
    await s.run(
      "async function* g() { yield 1; yield 2 } let sum = 0; for await (const x of g()) sum += x; sum",
    ),
    3,
  );
  equal(await s.run("const { a, b: [c] } = await Promise.resolve({ a: 1, b: [2] }); a + c"), 3);
  equal(
    await s.run(
      "class W { static async make() { return await Promise.resolve(new W()) } n = 4 } (await W.make()).n",
    ),
    4,
  );
  await rejects(s.run("await Promise.reject(new Error('rejected'))"), /rejected/);
});

test("tslab: BigInt, private fields, optional chaining and the rest of the language", async () => {
  const s = session();
  equal(await s.run("2n ** 64n"), 18446744073709551616n);
  equal(
    await s.run(
      "class C { #v = 1; get v() { return this.#v } static made = 0; static { C.made = 2 } } new C().v + C.made",
    ),
    3,
  );
  equal(await s.run("const o: any = null; o?.a?.b ?? 'none'"), "none");
  equal(await s.run("let n: number | null = null; n ??= 5; n"), 5);
  equal(await s.run("[1, 2, 3].at(-1)! + Object.fromEntries([['k', 1]]).k"), 4);
  equal(
    await s.run("label: for (const i of [1, 2]) { for (;;) { continue label } } 'done'"),
    "done",
  );
});

test("tslab: a cell with @module is a file that others import", async () => {
  const s = session();
  equal(
    await s.run(
      "/** @module shapes */\nexport const side: number = 2; export interface Shape { n: number }",
    ),
    undefined,
  );
  equal(
    await s.run("import { side, type Shape } from './shapes'; const sh: Shape = { n: side }; sh.n"),
    2,
  );
  await s.run("/**\n * @module shapes\n */\nexport const side = 'three'");
  equal(await s.run("import { side } from './shapes'; side.length"), 5);
  match(
    (await s.errors("/** @module wrong */\nexport const w: number = 'x'"))[0] ?? "",
    /^2:14 Type 'string'/,
  );
  equal(await s.run("/** A comment about a @module thing. */\n1"), 1);
});

test("tslab: files beside the notebook, JavaScript and JSON too", async () => {
  mkdirSync(join(folder, "lib"), { recursive: true });
  writeFileSync(
    join(folder, "lib/a.ts"),
    "import { b } from './b'; export const a = (): string => b + '!'",
  );
  writeFileSync(join(folder, "lib/b.js"), "export const b = 'from js'");
  writeFileSync(join(folder, "lib/c.json"), '{"c": [1, 2]}');
  const s = session();
  equal(
    await s.run("import { a } from './lib/a'; import c from './lib/c.json'; a() + c.c.length"),
    "from js!2",
  );
});

test("tslab: display shows content of each kind, newDisplay replaces its own", async () => {
  const s = session();
  await s.host.within(async () => {
    await s.run(`import * as tslab from "tslab";
      tslab.display.html("<b>x</b>"); tslab.display.markdown("*x*"); tslab.display.latex("$x$");
      tslab.display.svg("<svg/>"); tslab.display.text("x"); tslab.display.javascript("1");
      tslab.display.png(new Uint8Array([1, 2, 3])); tslab.display.raw("text/x-own", "own");`);
    const bundles = s.host.calls.map(({ bundle }) => bundle);
    deepEqual(bundles, [
      { "text/html": "<b>x</b>" },
      { "text/markdown": "*x*" },
      { "text/latex": "$x$" },
      { "image/svg+xml": "<svg/>" },
      { "text/plain": "x" },
      { "text/javascript": "1" },
      { "image/png": "AQID" },
      { "text/x-own": "own" },
    ]);
    s.host.calls.length = 0;
    await s.run("const d = tslab.newDisplay(); d.text('one'); d.text('two'); tslab.versions.node");
    deepEqual(
      s.host.calls.map(({ options }) => options?.update),
      [false, true],
    );
    equal(s.host.calls[0]?.options?.id, s.host.calls[1]?.options?.id);
  });
});

test("tslab: plain JavaScript has the same cells without types", async () => {
  const s = session("javascript");
  await s.run("let x = 1; const f = (a) => a + x; class A { #p = 2; get p() { return this.#p } }");
  equal(await s.run("x = 'now text'; f('')"), "now text");
  equal(await s.run("new A().p"), 2);
  equal(await s.run("const { join } = await import('node:path'); join('a', 'b')"), "a/b");
  equal(
    await s.run(
      "import fs, { existsSync } from 'node:fs'; existsSync('/') && typeof fs.readFileSync",
    ),
    "function",
  );
  equal(await s.run("const path = require('path'); path.sep"), "/");
  await s.run("function later() { return helper() }");
  await s.run("function helper() { return 'defined after' }");
  equal(await s.run("later()"), "defined after");
  equal(await s.run("typeof nobody"), "undefined");
  await rejects(s.run("nobody"), /nobody is not defined/);
  await rejects(s.run("nobody = 1"), /nobody is not defined/);
  match((await s.errors("let y: number = 1"))[0] ?? "", /^1:8 Type annotations can only be used/);
  equal((await s.errors("let = = 1")).length > 0, true);
  const { matches } = await s.compiler.complete("new A().", 8, folder);
  deepEqual(matches, ["p"]);
});

test("tslab: comments can silence the checker for a line", async () => {
  const s = session();
  equal(await s.run("// @ts-ignore\nconst a: number = 'x'; a"), "x");
  equal(await s.run("// @ts-expect-error\n// and why\nconst b: number = 'y'; b"), "y");
  deepEqual(await s.errors("// @ts-expect-error\nconst c: number = 1"), [
    "1:1 Unused '@ts-expect-error' directive.",
  ]);
});
