// What a program sees of a cell's functions: their text as it was written, which runs elsewhere, and the
// names that a script gives them.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { Worker } from "node:worker_threads";
import { test } from "node:test";
import vm from "node:vm";
import { asWritten, mark } from "../../kernel/contract/added.js";
import { Tracebacks } from "../../kernel/run/traceback.js";
import { TestSession } from "./test-session.js";

const plain = "%%nocheck\n";
const session = (): TestSession => new TestSession(process.cwd());

const functions = [
  "function work(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i); while (s > n) { s-- } return Math.round(s) }",
  "function work(n) { 'use strict'; do n = step(n); while (n < 3); return n }",
  "function work(n) { 'use strict'\n  return step(n)\n}",
  "(n) => step(n) + base",
  "n => ({ base, step, n: [step(n)] }) // a remark",
  "async (n) => { for await (const each of [n]) { await step(each) } ; return n }",
  "function* work(n) { while (true) yield* [step(n), base] }",
  "async function* work(n) { for (const q in { n }) for (;;) { yield step(q) } }",
  "class Work { #n = base; static s = step(base); constructor(n) { this.#n = n } get n() { return step(this.#n) } " +
    "set n(v) { base = v } static { step(1) } async *all() { for (;;) yield base } ['m' + base]() { return () => step(base) } }",
  "() => { base = function () { return 1 }; [base = () => step()] = []; ({ base = class {}, x: base = () => 1 } = {}); base ??= (() => step`a`) }",
  "() => typeof base + typeof (nobody) + nobody",
  "async () => [readAs('x'), separator, path.join('a', 'b'), await import('node:os'), import.meta.url, require('node:os'), __dirname]",
  "() => outer: for (const a of [1]) { continue outer }".replace("=> outer", "=> { outer") + " }",
  "function work({ a = base, ...rest }, [b = step(1)] = []) { return `${base}${`${step(rest)}`}` }",
];

test("the text of a function is what was written", async () => {
  const s = session();
  await s.run(`${plain}let base = 2; const step = (n) => n + 1`);
  await s.run(
    "import { readFileSync as readAs } from 'node:fs'; import * as path from 'node:path'; import { sep as separator } from 'node:path'",
  );
  const imports =
    "import { readFileSync as readAs } from 'node:fs'; import * as path from 'node:path'; import { sep as separator } from 'node:path';";
  for (const text of functions) {
    const written = text.replace(/ \/\/.*$/, "");
    for (const head of ["", imports]) {
      const found = await s.run(`${plain}${head}\n;(${text}\n)`);
      equal(String(found), written);
      equal(`${found as string}`, written);
      equal(Function.prototype.toString.call(found), written);
    }
    await s.run(`%%js\nvar held = (${text}\n)`);
    equal(String(await s.run("held")), written);
  }
});

test("types are not in the text, and it runs", async () => {
  const s = session();
  const work = await s.run(
    "const work = <T extends number>(n: T, ...rest: T[]): number => { let s = 0 as number\n  for (const each of rest!) s += each as number\n  return s + Math.abs(n) }\nwork",
  );
  equal(
    String(work),
    "(n , ...rest )  => { let s = 0 ;\n  for (const each of rest ) s += each ;\n  return s + Math.abs(n) }",
  );
  equal(vm.runInNewContext(`(${String(work)})(-4, 1, 2)`), 7);
  for (const [text, call] of [
    ["enum E { A = 3 }\nfunction f(n: number) { while (n < E.A) n++; return n }\nf", "(1)"],
    [
      "class P { constructor(private n: number) {} more() { for (;;) { return this.n + 1 } } }\nP",
      "",
    ],
  ] as const) {
    const made = String(await s.run(text));
    if (call === "") equal(vm.runInNewContext(`new (${made})(4).more()`), 5);
    else match(made, /while \(n < 3|while \(n < \(3\)|E\.A/);
    equal(made.includes(mark), false);
  }
});

test("a function's text runs by new Function, in vm and in a worker", async () => {
  const s = session();
  const text =
    "function work(n: number) { let sum = 0; for (let i = 0; i < n; i++) sum += Math.round(i); return sum }\n";
  await s.run(text);
  equal(await s.run("new Function('return (' + work + ')(4)')()"), 6);
  equal(await s.run("import vm from 'node:vm'; vm.runInNewContext(`(${work})(5)`)"), 10);
  const worker = new Worker(
    `require("node:worker_threads").parentPort.postMessage((${String(await s.run("work"))})(6))`,
    { eval: true },
  );
  equal(await new Promise((resolve) => worker.once("message", resolve)), 15);
  await worker.terminate();
  equal(await s.run("const made = new Function('n', 'for (;;) return n'); made(3)"), 3);
  match(String(await s.run("made.toString()")), /for \(;;\) return n/);
});

test("nobody else's text changes, and toString is like the engine's own", () => {
  equal(String(Function.prototype.toString), "function toString() { [native code] }");
  equal(Function.prototype.toString.name, "toString");
  equal(Function.prototype.toString.length, 0);
  deepEqual(Object.keys(Function.prototype), []);
  const all = "function a() { __tick(); return __ref_x.v + (0, b.c)(); }";
  equal(asWritten(all), all);
  const long = `"${"a".repeat(500_000)}" + ${mark}x.v`;
  equal(asWritten(long), `"${"a".repeat(500_000)}" + x`);
});

test("what the engine says of a name has the name as it was written", async () => {
  const s = session();
  await s.run("let f: any = 1; import { sep } from 'node:path'");
  for (const [text, told] of [
    ["f(2)", "f is not a function"],
    ["new f()", "f is not a constructor"],
    ["for (const q of f) ;", "f is not iterable"],
    ["(sep as any)(1)", "sep is not a function"],
  ] as const) {
    const error = await s.run(text).catch((thrown: unknown) => thrown);
    equal(new Tracebacks().report(error).evalue, told);
  }
});

test("no text may have the kernel's mark, and people's names are theirs", async () => {
  const s = session();
  await rejects(s.run(`let ${mark}x = 1`), /its text must not have/);
  // Catalan has a point of this kind within its words.
  equal(
    await s.run("let col·laborar = 2; const f = () => col·laborar; String(f)"),
    "() => col·laborar",
  );
  equal(await s.run("String(() => col·laborar + 1)"), "() => col·laborar + 1");
  deepEqual(
    await s.run(
      "let __tick = 1, __lab = 2, __value = 3, __v = 4, __scope = 5, __m0 = 6; [__tick, __lab, __value, __v, __scope, __m0]",
    ),
    [1, 2, 3, 4, 5, 6],
  );
  equal(await s.run("__v = 7; __v"), 7);
});

test("functions take the names of variables of other cells", async () => {
  const s = session();
  await s.run("let x1: any, x2: any, x3: any, x4: any, x5: any, __proto__: any, o: any = {}");
  const named: [string, string][] = [
    ["x1 = function () {}; x1.name", "x1"],
    ["x1 = () => 1; x1.name", "x1"],
    ["x1 = (async () => 1); x1.name", "x1"],
    ["x1 = class {}; x1.name", "x1"],
    ["x1 = class { static m() {} } as any; x1.name", "x1"],
    ["x1 = class { static name = 'own' }; x1.name", "own"],
    ["x1 = function named() {}; x1.name", "named"],
    ["x2 ??= () => 1; x2.name", "x2"],
    ["x3 ||= function* () {}; x3.name", "x3"],
    ["x3 &&= class {}; x3.name", "x3"],
    ["[x4 = () => 1] = [] as any; x4.name", "x4"],
    ["({ x5 = () => 1 } = {} as any); x5.name", "x5"],
    ["({ a: x5 = class {} } = {} as any); x5.name", "x5"],
    ["for ([x5 = function () {}] of [[]] as any) ; x5.name", "x5"],
    ["__proto__ = () => 1; __proto__.name", "__proto__"],
    ["o.p = () => 1; o.p.name", ""],
    ["(x1) = () => 1; x1.name", ""],
    ["(x1 = [() => 1][0]).name", ""],
    ["%%nocheck\nexport default () => 1", "default"],
  ];
  for (const [text, name] of named) {
    const found = await s.run(text);
    equal(typeof found === "function" ? found.name : found, name, text);
  }
});

test("typeof of a name that nobody declared is undefined, in parentheses too", async () => {
  const s = session();
  for (const text of [
    "typeof nothing",
    "typeof (nothing)",
    "typeof ((nothing))",
    "typeof (nothing as any)",
  ]) {
    equal(await s.run(`%%nocheck\n${text}`), "undefined", text);
  }
  await rejects(s.run("%%nocheck\ntypeof (nothing, 1)"), /nothing is not defined/);
  await rejects(s.run("%%nocheck\ntypeof nothing.v"), /nothing is not defined/);
});

test("what a loop's using declares has no value in the loop's own head", async () => {
  const s = session();
  await s.run("let x: any = { [Symbol.dispose]() {} }, seen = 0");
  for (const head of ["[x]", "[x = null]", "[typeof x]", "(() => [x])()"]) {
    const run = s.run(`%%nocheck\nfor (using x of ${head}) seen++`);
    await rejects(run, /ReferenceError: Cannot access 'x' before initialization/, head);
  }
  equal(await s.run("for (using y of [x]) seen++\nseen"), 1);
});
