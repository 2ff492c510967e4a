// Programs that no module may be: a cell is refused before anything of it runs, as Node refuses a file.
import { equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { TestSession } from "./test-session.js";

/** An invalid program, and what Node's message about it has. */
const invalid: [string, RegExp][] = [
  ["for (;;) let x", /Lexical declaration/],
  ["while (0) class K {}", /./],
  ["do let x; while (0)", /Lexical declaration/],
  ["if (1) let y", /Lexical declaration/],
  ["label: let\nz1", /./],
  ["delete q", /Delete of an unqualified identifier/],
  ["delete (q)", /Delete of an unqualified identifier/],
  ["var yield = 1", /reserved word/],
  ["yield", /reserved word/],
  ["let let = 1", /./],
  ["static", /reserved word/],
  ["public = 1", /reserved word/],
  ["let a1; let a1", /already been declared/],
  ["let a2; var a2", /already been declared/],
  ["function f1() {} function f1() {}", /already been declared/],
  ["import { sep } from 'node:path'; let sep", /already been declared|conflicts/],
  ["{ function f2() {} let f2 }", /already been declared/],
  ["try {} catch (e) { let e }", /already been declared/],
  [
    "class B { constructor() {} constructor() {} }",
    /only have one constructor|Multiple constructor/,
  ],
  ["class C { #a; #a }", /already been declared|Duplicate/],
  ["function f3(a, a) {}", /Duplicate parameter/],
  ["return 1", /Illegal return/],
  ["if (1) { return }", /Illegal return/],
  ["break", /Illegal break/],
  ["continue", /Illegal continue/],
  ["q: { while (1) { continue q } }", /Illegal continue/],
  ["a3: a3: 1", /already been declared/],
  ["var await", /reserved word/],
  ["function f4() { var await = 1 }", /reserved word/],
  ["await: 1", /./],
  ["var o = 010", /Octal/],
  ["'\\01'", /Octal/],
  ["with (a) {}", /with/],
  ["arguments = 1", /eval or arguments/],
  ["eval++", /eval or arguments/],
  ["new.target", /new\.target/],
  ["super()", /super/],
  ["import.meta = 1", /left-hand side/],
  ["import('a') = 1", /left-hand side/],
  ["({ a = 1 })", /shorthand/],
  ["x.#q", /Private field/],
  ["/(/", /regular expression/],
  ["/a/gg", /regular expression/],
  ["export { nothing }", /not defined in module/],
  ["export { Number }", /not defined in module|Only local declarations/],
  ["var e1; export { e1 as e2 }; export * as e2 from 'node:path'", /Duplicate export|conflicts/],
  ["export const e3 = 1; export { e3 }", /Duplicate export|conflicts|multiple/],
  ["export default 1; export default function () {}", /Duplicate export|multiple default/],
  ["var f5; function f5() {}", /already been declared|Duplicate/],
  ["{ var f6; } function f6() {}", /already been declared|Duplicate/],
  ['var e0; export { e0 as "\\uD83D" }', /unpaired surrogate/],
  ['import { "\\uD83D" as e0 } from "./gone.js"', /unpaired surrogate/],
  ['export * as "\\uD83D" from "./gone.js"', /unpaired surrogate/],
  ["function g1(a = 1) { 'use strict' }", /use strict/],
  ["({ __proto__: 1, __proto__: 2 })", /__proto__/],
  ["{ import 'a' }", /import/],
  ["{ using x }", /initializer/],
  ["import { arguments } from 'node:path'", /eval or arguments/],
  ["import { sep as eval } from 'node:path'", /eval or arguments/],
  ["import { sep, sep } from 'node:path'", /already been declared/],
  ["import { sep } from 'node:path'; function sep() {}", /already been declared/],
  ["1 = 2", /left-hand side/],
];

test("what is no module is refused before it runs, with and without checks", async () => {
  const s = new TestSession(process.cwd());
  await s.run("%%nocheck\nlet q = 1, ran = 0");
  for (const [text, message] of invalid) {
    for (const head of ["%%nocheck\n", "%%js\n"]) {
      const told = await s.errors(`${head}ran++;\n${text}`);
      ok(told.length > 0, `${head}${text}`);
      if (head === "%%nocheck\n") match(told.join("\n"), message, text);
      match(told[0]!, /^[3-9]:/, text); // its own line
    }
    ok((await s.errors(`ran++;\n${text}`)).length > 0, `checked: ${text}`);
  }
  equal(await s.run("ran"), 0);
});

test("what TypeScript makes of a cell is looked at in the same way", async () => {
  const s = new TestSession(process.cwd());
  const told = await s.errors("%%nocheck\nenum E { A }\nlet p = 1\n\nfor (;;) let y");
  match(told.join(), /^5:\d+ Lexical declaration/);
  match((await s.errors("%%nocheck\nusing a = null\n  delete a")).join(), /^3:10 Delete of an/);
});

test("what is one still runs", async () => {
  const s = new TestSession(process.cwd());
  const valid: [string, unknown][] = [
    ["await 1", 1],
    ["class P { #p = 8; static of(a?: P) { return a?.#p } }\n[P.of(new P()), P.of()].join()", "8,"],
    ["for await (const a of [2]) var last = a\nlast", 2],
    ["({ await: 1, return: 2, let: 3 }).await", 1],
    ["class K { await() { return 4 } static yield = 5; delete() {} }\nnew K().await()", 4],
    ["import.meta.url.length > 0", true],
    ["(() => { return 6 })()", 6],
    ["class S { static { const f = () => { return 7 }; f() } }\n7", 7],
    ["function over(a: string): string; function over(a: any) { return a }\nover('8')", "8"],
    ["var v1 = 1; var v1 = 2; v1", 2],
    ["class M { a: number\n ['b'] = 2\n static\n c = 3;\n *d() {} }\nnew M()['b']", 2],
    [
      "class N { a = 1\n public *b() {}\n private get c() { return 2 } static readonly d = 3 }\nnew N().a",
      1,
    ],
    ["let w: number\n;[1].map((n) => n as number)\nw", undefined],
    ["export const e1 = 9; export { e1 as e2 }; e1", 9],
  ];
  for (const [text, value] of valid) equal(await s.run(text), value, text);
});

test("a cell of invalid characters is answered in time linear in its length, and in few words", async () => {
  const s = new TestSession(process.cwd());
  await s.compile("1 + 1");
  const { diagnosticsReport } = await import("../../kernel/wire/diagnostics-report.js");
  const work = async (source: string): Promise<number> => {
    const began = process.cpuUsage();
    await s.compile(source);
    return process.cpuUsage(began).user / 1000;
  };
  for (const unit of ["# ", "\u0001", "\\ ", "№"]) {
    const source = unit.repeat(Math.floor(40_000 / unit.length));
    const short = await work(source.slice(0, 10_000));
    const long = await work(source);
    ok(long <= 8 * Math.max(short, 50), `${unit}: ${long} ms, ${short} for a quarter`);
    const compiled = await s.compile(source);
    ok(!compiled.ok, unit);
    const { traceback } = diagnosticsReport(compiled.diagnostics, source, 1);
    ok(traceback.join("\n").length < 100_000, unit);
    match(traceback.join("\n"), /and \d+ more errors/);
  }
});
