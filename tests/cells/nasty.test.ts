import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { InterruptError } from "../../kernel/host/host.js";
import { TestSession } from "./test-session.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "arpo-lab-nasty-")));
after(() => rmSync(folder, { recursive: true }));
const s = new TestSession(folder);

test("compile() answers text that is no program with its first error", async () => {
  for (const source of [
    "{",
    "}",
    "((((",
    "'",
    "`${",
    "/*",
    "let",
    "class {",
    "a b c",
    "\0",
    "💥",
    "@",
    "<div/>",
    "%",
    "import {",
    "export {",
    "await",
    "for (",
    "x =>",
  ]) {
    ok((await s.errors(source)).length > 0, JSON.stringify(source));
  }
  equal(await s.run("1 + 1"), 2);
});

test("compile() takes a cell of 10,000 lines", async () => {
  const lines = Array.from({ length: 10_000 }, (_, i) => `const line${i} = ${i};`);
  await s.run(lines.join("\n"));
  equal(await s.run("line0 + line9999"), 9999);
  deepEqual(await s.errors(`${"\n".repeat(9_999)}const wrong: string = 1`), [
    "10000:7 Type 'number' is not assignable to type 'string'.",
  ]);
});

test("compile() takes names and texts in any script", async () => {
  await s.run("const 变量 = 1, größe = 2, ñ = 3, 𝒳 = 4, \\u0061bc = 5; const $ = 6, _ = 7, $_ = 8");
  deepEqual(await s.run("[变量, größe, ñ, 𝒳, abc, $, _, $_]"), [1, 2, 3, 4, 5, 6, 7, 8]);
  deepEqual(await s.errors("'🎉🎉'; nobody"), ["1:9 Cannot find name 'nobody'."]);
  equal(await s.run("\uFEFF'bom'"), "bom");
  equal(await s.run("const a = 1\r\nconst b = 2\r\na + b"), 3);
  deepEqual(await s.errors("1\r\n\r\nnobody"), ["3:1 Cannot find name 'nobody'."]);
});

test("compile() keeps names that the kernel or the language could trip over", async () => {
  await s.run(
    "const constructor = 1, toString = 2, __proto__ = 3, hasOwnProperty = 4, exports = 5, module = 6, process2 = 7, name = 8, value = 9, cell = 10, scope = 11",
  );
  deepEqual(
    await s.run(
      "[constructor, toString, __proto__, hasOwnProperty, exports, module, name, value, cell, scope]",
    ),
    [1, 2, 3, 4, 5, 6, 8, 9, 10, 11],
  );
  await s.run("const console = { log: () => 'mine' }; const Promise2 = Promise");
  equal(await s.run("console.log()"), "mine");
  await s.run("const Array = 5; const Math = { max: () => 'own' }");
  deepEqual(await s.run("[Array, Math.max(), [1].length]"), [5, "own", 1]);
  equal(await s.run("const require = () => 'own'; require()"), "own");
  equal(
    await s.run(
      "const target = 0; new (class { x = 0; constructor() { this.x = new.target ? 1 : target } })().x",
    ),
    1,
  );
  equal(await s.run("const x = { x: { x: 5 } }; x.x.x"), 5);
  equal(await s.run("x.x.x"), 5);
});

test("compile() keeps a tick in every loop and in functions that call", async () => {
  const stop = async (source: string): Promise<void> => {
    const fresh = new TestSession(folder);
    let ticks = 0;
    fresh.host.interruptFlag[0] = 1;
    fresh.host.checkInterrupt = () => {
      if (++ticks > 3) throw new InterruptError();
    };
    await rejects(fresh.run(source), InterruptError, source);
  };
  await stop("while (true) {}");
  await stop("for (;;);");
  await stop("do {} while (true)");
  await stop("for (const x of (function* () { while (true) yield 1 })()) ;");
  await stop("function f(): void { f() } f()");
  await stop("const g = (n: number): number => g(n + 1); g(0)");
  await stop("class K { m(): void { this.m() } } new K().m()");
  await stop("await null; for (;;) await null");
  writeFileSync(join(folder, "loops.ts"), "export function forever() { for (;;) {} }");
  await stop("import { forever } from './loops'; forever()");
});

test("import survives cycles between types and packages without types", async () => {
  mkdirSync(join(folder, "node_modules/untyped"), { recursive: true });
  writeFileSync(
    join(folder, "node_modules/untyped/package.json"),
    '{"name": "untyped", "main": "i.js"}',
  );
  writeFileSync(join(folder, "node_modules/untyped/i.js"), "exports.anything = (x) => x");
  equal(await s.run("import { anything } from 'untyped'; anything('goes').length"), 4);
  writeFileSync(
    join(folder, "one.ts"),
    "import { Two } from './two'; export class One { two?: Two; static make() { return new Two() } }",
  );
  writeFileSync(
    join(folder, "two.ts"),
    "import { One } from './one'; export class Two { one = new One() }",
  );
  ok(await s.run("import { One } from './one'; One.make().one instanceof One"));
});

test("import of a file that throws throws it, and tries again", async () => {
  writeFileSync(join(folder, "throws.ts"), "throw new Error('at load'); export const t = 1");
  await rejects(s.run("import { t } from './throws'"), /at load/);
  await rejects(s.run("import { t } from './throws'"), /at load/);
  writeFileSync(join(folder, "throws.ts"), "export const t = 12");
  equal(await s.run("import { t } from './throws'; t"), 12);
});

test("import of a file that is not there says so, and finds it once it is", async () => {
  match(
    (await s.errors("import { n } from './new'"))[0] ?? "",
    /^1:19 Cannot find module '\.\/new'/,
  );
  writeFileSync(join(folder, "new.ts"), "export const n = 1");
  equal(await s.run("import { n } from './new'; n"), 1);
  rmSync(join(folder, "new.ts"));
  match((await s.errors("import { n } from './new'"))[0] ?? "", /Cannot find module/);
});

test("a session outlives the renewal of its checker", async () => {
  const fresh = new TestSession(folder);
  await fresh.run(
    "class Kept { private p = 1; get() { return this.p } } let kept = new Kept(); enum E { A, B }",
  );
  const filler = `/* ${"x".repeat(600_000)} */ 1`;
  await fresh.run(filler);
  await fresh.run(filler);
  equal(await fresh.run("kept = new Kept(); kept.get() + E.B"), 2);
  match((await fresh.errors("kept.p"))[0] ?? "", /private/);
});
