// The language of cells where TypeScript is more than JavaScript with types, and where taking types out
// of a text could change what is left.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { names } from "../../kernel/contract/added.js";
import { positionsOf } from "../../kernel/wire/debug/positions.js";
import { Tracebacks } from "../../kernel/run/traceback.js";
import { TestSession } from "./test-session.js";

const made: string[] = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function session(files: Record<string, string> = {}): TestSession {
  const at = realpathSync(mkdtempSync(join(tmpdir(), "arpo-lab-language-")));
  made.push(at);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true });
    writeFileSync(join(at, path), text);
  }
  return new TestSession(at);
}

/** A session with these settings in the notebook's package.json. */
const withOptions = (compilerOptions: object, files: Record<string, string> = {}): TestSession =>
  session({ ...files, "package.json": JSON.stringify({ "arpo-lab": { compilerOptions } }) });

/** Runs cells one after another and compares what each shows. */
async function shows(s: TestSession, cells: [source: string, value?: unknown][]): Promise<void> {
  for (const [source, value] of cells) deepEqual(await s.run(source), value, source);
}

test("enums may be made of names of earlier cells, constants among them", async () => {
  const s = session();
  await s.run("const enum C { One = 1, Two = -2, Text = 't' } const word = 'w'; let n = 5");
  await shows(s, [
    ["enum E { A = C.One, B, D = C.Two, F = C.Text, G = word, H = `${word}!`, I = n }"],
    ["[E.A, E.B, E.D, E.F, E.G, E.H, E.I]", [1, 2, -2, "t", "w", "w!", 5]],
    ["[E[1], E[2], (E as any).w, E[5]]", ["A", "B", undefined, "I"]],
    [
      "enum Z { N = -1, F = 1.5, S = 'a', T = `b`, U = F | 4 }; [Z.N, Z.U, Z.S + Z.T]",
      [-1, 5, "ab"],
    ],
    ["[C.One.toFixed(1), -C.Two, C['Text'].length, `${C.Two}`]", ["1.0", 2, 1, "-2"]],
    ["enum M { A = 1 } enum M { B = A + 1, D = M.A }; [M.A, M.B, M.D]", [1, 2, 1]],
    ["declare const enum Ambient { A = 5 } Ambient.A", 5],
    ["enum Empty {}\nObject.keys(Empty)", []],
    ["enum Called { A = (() => { for (;;) break; return n })() }\nCalled.A", 5],
  ]);
});

test("namespaces keep their exports live and merge with one another, classes and functions", async () => {
  const s = session();
  await s.run("let x = 1; const f = (n: number) => n + x");
  await shows(s, [
    [
      "namespace N { export let a = x; export const [b, { c }] = [2, { c: 3 }]; let own = 4; a++; " +
        "export function g() { return f(a) + own } export class K { v = a } export namespace M { export const d = a + b } }",
    ],
    ["x = 10; [N.a, N.b, N.c, N.g(), new N.K().v, N.M.d, 'own' in N]", [2, 2, 3, 16, 2, 4, false]],
    ["namespace P { export const a = 1 } namespace P { export const b = a + 1 } P.b", 2],
    ["namespace A.B.D { export let v = x } A.B.D.v", 10],
    ["class K {} namespace K { export const s = x } K.s", 10],
    ["function q() { return 1 } namespace q { export const s = x } q() + q.s", 11],
    ["namespace T { export interface I { a: number } } const i: T.I = { a: 1 }; i.a", 1],
  ]);
});

test("import aliases name values of namespaces, of earlier cells too", async () => {
  const s = session({ "far.ts": "export namespace Deep { export const v = 7 }" });
  await shows(s, [
    [
      "namespace Far { export let near = 1; export interface Type { a: 1 } export namespace M { export const w = 2 } }",
    ],
    ["import near = Far.near; near", 1],
    ["import M = Far.M; M.w + near", 3],
    ["import T = Far.Type; const t: T = { a: 1 }; t.a", 1],
    [
      "namespace N { import w = Far.M.w; export import again = Far.M.w; export const sum = w + again } [N.sum, N.again]",
      [4, 2],
    ],
    ["import { Deep } from './far'; import v = Deep.v; v", 7],
    ["import path = require('node:path'); path.basename('/a/b')", "b"],
  ]);
});

test("parameter properties, accessors, private members and abstract classes are those of TypeScript", async () => {
  const s = session();
  await s.run("let x = 1; class Base<T> { constructor(protected value: T) {} }");
  await shows(s, [
    [
      "class A { constructor(private a: number, readonly b = x, public c?: string) {} sum() { return this.a + this.b } }\nnew A(1).sum()",
      2,
    ],
    [
      "class B extends Base<number> { z = this.value + x; constructor(private a: number, n: number) { super(n); x += this.a } }\nnew B(5, 2).z + x",
      9,
    ],
    [
      "class C { accessor a = x; static accessor b = 2; accessor #c = 3; c() { return this.#c } }\n[new C().a, C.b, new C().c(), Object.keys(new C())]",
      [6, 2, 3, []],
    ],
    [
      "class D { #p = 1; static #q = 2; static { x = D.#q } has(o: object) { return #p in o } }\n[x, new D().has(new D()), new D().has({})]",
      [2, true, false],
    ],
    [
      "abstract class E { abstract a: number; abstract m(): void; declare z: number; n?: number; [k: string]: any; static s: number = x; k() { return 'k' } }\nclass F extends E { a = 1; m() {} }\n[new F().k(), 'z' in new F(), 'n' in new F(), E.s]",
      ["k", false, true, 2],
    ],
    [
      "class G { a: number\n ['b'] = 1\n static\n d = 2;\n *e() { yield 1 } }\n[Object.keys(new G()), G.d, [...new G().e()]]",
      [["a", "b"], 2, [1]],
    ],
  ]);
});

test("decorators are called without this, with values of earlier cells and of imports", async () => {
  const s = session({
    "d.ts":
      "export function twice(this: unknown, m: any, c: any) { const own = this === undefined; return function (this: any) { return own && 2 * m.call(this) } }\nconst q = (k: any) => k; export { q as 'a b' }",
  });
  await s.run(
    "const seen: unknown[] = []; function mark(this: unknown, _: unknown, c: any) { seen.push(this === undefined, c.kind + ' ' + String(c.name)) }",
  );
  await s.run(
    "const named = (name: string) => (_: unknown, c: any) => void seen.push(name); const o = { by(this: any, _: unknown, c: any) { seen.push(this === o) } }",
  );
  await shows(s, [
    [
      "@mark class A { @mark m() {} @named('p') p = 1; @o.by static s = 2; @(mark) accessor t = 3 }\nseen.splice(0)",
      [true, "method m", true, "accessor t", true, "p", true, "class A"],
    ],
    [
      "import { twice, 'a b' as q } from './d'; @q class B { @twice get() { return 4 } }\nnew B().get()",
      8,
    ],
    [
      "const K = @mark class { v = 1 }; export @mark class L {}; @mark export default class {}\nseen.filter((each) => typeof each === 'string').length",
      3,
    ],
  ]);
});

test("using disposes at the end of the cell, and functions and later names are seen outside", async () => {
  const s = session();
  await s.run(
    "const log: string[] = []; const made = (name: string) => ({ name, [Symbol.dispose]() { log.push(name) }, async [Symbol.asyncDispose]() { log.push('async ' + name) } })",
  );
  await shows(s, [
    [
      "log.push(later()); using a = made('a'); await using b = made('b'); function later() { return 'hoisted' } class K { n = a.name } let z = 1; var v = 2; enum E { A = 3 }\nlog.length",
      1,
    ],
    ["[...log, later(), new K().n, z + v + E.A]", ["hoisted", "async b", "a", "hoisted", "a", 6]],
    [
      "log.length = 0; for (using q of [made('1'), made('2')]) log.push('in ' + q.name)\nlog",
      ["in 1", "1", "in 2", "2"],
    ],
    ["log.length = 0; (() => { using r = made('r'); log.push('body') })(); log", ["body", "r"]],
  ]);
});

test("export does nothing more in a cell, and default has a value or a name", async () => {
  const s = session();
  await shows(s, [
    ["let x = 1; export default x + 1", 2],
    ["export default { a: x } as any", { a: 1 }],
    ["export default x; export {}", 1],
    ["x; export default x; const after = 1", undefined],
    ["// @ts-nocheck\nexport default function () { return 'f' }\n__default()", "f"],
    ["// @ts-nocheck\nexport default class { v = 3 }\nnew __default().v", 3],
    [
      "export enum E { A = 4 } export namespace N { export const a = E.A } export abstract class K {} export type T = 1; export async function g() {}\nN.a",
      4,
    ],
    ["export { sep as s } from 'node:path'; 5", 5],
  ]);
});

test("modules have every form of export", async () => {
  const s = session({
    "inner.ts": "export const a = 1; export type T = 1; export default 'inner'",
    "forms.ts":
      "log.push('forms'); declare const log: string[]; export * from './inner'; export * as ns from './inner'; export { default as inner, type T as U } from './inner';\n" +
      "export let live = 0; export function up() { live++ } export const { d, e: [f] } = { d: 2, e: [3] }; const g = 4; export { g, g as 'a b' };\n" +
      "export abstract class K { abstract m(): void } export enum E { A = 5 } export namespace N { export const v = 6 } import aliased = N.v; export { aliased }; export import also = N.v;",
    "anonymous-class.ts": "export default class<T> { v = 1 as T }",
    "anonymous-function.ts": "export default async function* <T>(a: T) { yield a }",
    "arrow.ts": "export default <T,>(a: T): T => a",
    "asserted.ts": "export default <any>{ a: 1 }",
    "overloads.ts":
      "export default function f(a: string): string; export default function f(a: any) { return f.name + a }",
    "using.ts":
      "export const log: string[] = []; using a = { [Symbol.dispose]() { log.push('disposed') } }; export const z = 1; export function g() { return z } export default class K {}",
  });
  (globalThis as { log?: string[] }).log = [];
  await shows(s, [
    [
      "import * as forms from './forms'; import { a, ns, inner, up, live, d, f, g, 'a b' as ab, E, N, aliased, also } from './forms'; up();\n[a, ns.default, inner, live, d, f, g, ab, E.A, N.v, aliased, also]",
      [1, "inner", "inner", 1, 2, 3, 4, 4, 5, 6, 6, 6],
    ],
    ["'default' in forms", false],
    ["export * from './inner'; export * as all from './inner'; 5", 5],
    ["import K from './anonymous-class'; new K<number>().v", 1],
    [
      "import gen from './anonymous-function'; const all = []; for await (const v of gen(2)) all.push(v)\nall",
      [2],
    ],
    [
      "import id from './arrow'; import as from './asserted'; import over from './overloads'; [id(1), as.a, over('a')]",
      [1, 1, "fa"],
    ],
    [
      "import L, { log, z, g as of } from './using'; [log, z, of(), typeof L]",
      [["disposed"], 1, 1, "function"],
    ],
  ]);
  delete (globalThis as { log?: string[] }).log;
});

test("an import anywhere at the top of a cell or a module comes before what runs", async () => {
  const s = session({
    "late.ts": "const before = typeof a; import { a } from './value'; export { before, a }",
    "value.ts": "export const a = 1",
  });
  await shows(s, [
    ["const before = typeof basename; import { basename } from 'node:path'; before", "function"],
    ["import { before as b, a } from './late'; [b, a]", ["number", 1]],
    ["function g() { return sep } import { sep } from 'node:path'; g()", "/"],
    [
      "const seen = await import('./value'); import { a as again } from './value'; seen.a === again",
      true,
    ],
  ]);
});

test("taking types out joins no two statements and changes no meaning", async () => {
  const s = session();
  await s.run(
    "let x = 1, y: any = { z: { toFixed: (n?: number) => 'fixed' } }; const f: any = (a: any) => a; const tag = <T,>(t: any, ...v: any[]) => t.raw.join('|') + v",
  );
  await shows(s, [
    ["let a: number\n;(x)", 1],
    ["const b = y as any\nf(2)", 2],
    ["var c = f as\nany\nf(3)", 3],
    ["type T = number\ninterface I { a: T }\ndeclare const q: string\n;[x].map((n) => n + 1)", [2]],
    ["const g = (): any => <any>{ a: x }\ng()", { a: 1 }],
    ["f(<any>x) + (y.z as any)!.toFixed?.(1) + y?.['z']!.toFixed()", "1fixedfixed"],
    ["tag<string>`a${x as any}b`", "a|b1"],
    ["const h = async <T>(\n  b: T,\n): Promise<\n  T\n> => b\nawait h(4)", 4],
    [
      "function over(a: string): string; function over(a: any) { 'use strict'\nreturn f(a) }\nover('o')",
      "o",
    ],
    [
      "function bound(this: any, a?: number, ...rest: number[]): asserts a is 1 { return f([a, ...rest]) }\nbound.length",
      1,
    ],
    [
      "const { m = x, ...rest }: any = { p: 2 }, [, n = f(5)]: any = []; [m, rest, n]",
      [1, { p: 2 }, 5],
    ],
    ["if (f(0)) f()\nelse y.w = <any>\nx\ny.w", 1],
    [
      "let k = 3\ndo k--\nwhile (k > 1)\nouter: for (const i of [1, 2] as number[]) for (;;) { k += i; continue outer }\nk",
      4,
    ],
    ["let w = 3, down = 0; while (w --> 0) down++\n[w, down]", [-1, 3]],
    ["// @ts-nocheck\nconst lt = 1, gt = { v: 1 }; lt<!--gt.v", false],
    ["//# sourceURL=elsewhere\nx /* <!-- */", 1],
    ["const r = 1\rlet u: number = r\r\nu + r", 2],
    ["const ls = 'a\u2028b', tl = `\u2029`; ls.length + tl.length", 4],
    ["({ x, y: y.v = 7 } = { x: 5 } as any); [x, y.v]", [5, 7]],
    ["for (x of [8, 9] as const);\nx", 9],
    ["[typeof x, (f satisfies any)(1), new Map<string, number>().size]", ["number", 1, 0]],
  ]);
});

test("compiler options of the project decide how classes and decorators are made", async () => {
  const legacy = withOptions({ experimentalDecorators: true });
  await legacy.run(
    "const args: unknown[] = []; const dec: any = (...all: unknown[]) => { args.push(all.length, typeof all[2]) }",
  );
  await shows(legacy, [["class A { @dec m(a: number) {} }\nargs", [3, "object"]]]);

  const metadata = withOptions({ experimentalDecorators: true, emitDecoratorMetadata: true });
  await metadata.run(
    "const types: unknown[] = []; (Reflect as any).metadata = (key: string, value: any) => () => { types.push(key, value) }; const dec: any = () => {}",
  );
  await shows(metadata, [
    ["class A { @dec m(a: number): string { return '' } }\ntypes.length", 6],
    [
      "types.flat().map((each: any) => each.name ?? each).sort()",
      ["Function", "Number", "String", "design:paramtypes", "design:returntype", "design:type"],
    ],
  ]);
  delete (Reflect as { metadata?: unknown }).metadata;

  const assigned = withOptions({ useDefineForClassFields: false });
  await shows(assigned, [["class D { w: number; v = 1 }\nObject.keys(new D())", ["v"]]]);

  const older = withOptions(
    { target: "es2017", importHelpers: true },
    { "m.ts": "export const { a, ...rest } = { a: 1, b: 2 }" },
  );
  await shows(older, [
    [
      "import { a, rest } from './m'; let n: number; n ??= a; class K { static s = n; #p = 2; p() { return this.#p } }\n[K.s, new K().p(), rest?.b]",
      [1, 2, 2],
    ],
  ]);
  await shows(withOptions({ module: "commonjs" }), [
    ["import { sep } from 'node:path'; enum E { A = 1 }\nsep + E.A", "/1"],
  ]);
});

/** Where an error comes from, as a traceback tells it. */
async function place(s: TestSession, source: string): Promise<string> {
  const compiled = await s.compile(source);
  if (!compiled.ok || !("js" in compiled)) throw new Error(JSON.stringify(compiled));
  const tracebacks = new Tracebacks();
  tracebacks.modules = s.scope.maps;
  tracebacks.add(`cell-${compiled.id}.ts`, 1, source, compiled.map);
  try {
    await s.evaluate(compiled);
  } catch (error) {
    return tracebacks
      .frames(error as Error)
      .map((line) => line.trim())
      .filter((line) => !line.includes("dist/tests"))
      .join("\n");
  }
  throw new Error("It does not fail");
}

test("errors are told where they come from, whatever a cell is made of", async () => {
  const s = session({
    "plain.ts":
      "type T = 1\n\nexport function fail(a: any): T { const b = a as any; throw new Error('no') }",
    "more.ts":
      "enum E { A }\nnamespace N {\n  export function fail(a?: number) { f(); throw new Error('no') }\n  const f = () => {}\n}\nexport const fail = N.fail",
    "throws.ts": "\nthrow new Error('at load')",
  });
  equal(
    await place(s, "const a = 1\n\nconst b: any = (undefined as any).x"),
    "at cell 1, line 3:35",
  );
  equal(
    await place(s, "enum E { A }\nfor (const q of [1]) { const b: any = (undefined as any).x }"),
    "at cell 1, line 2:58",
  );
  equal(
    await place(
      s,
      "class A { constructor(private a: any) {}\n  m(): void {\n    null2(); this.a.b.c\n  }\n}\nfunction null2() {}\nnew A(1)\n  .m()",
    ),
    "at A.m (cell 1, line 3:23)\nat cell 1, line 8:4",
  );
  equal(
    await place(s, "using a = { [Symbol.dispose]() {} }\r\n\r\nlet b: number = (null as any).x"),
    "at cell 1, line 3:31",
  );
  match(
    await place(s, "import { fail } from './plain'\n  fail(1)"),
    /plain\.ts:3:61\)\nat cell 1, line 2:7$/,
  );
  match(
    await place(s, "import { fail } from './more'\n  fail(1)"),
    /more\.ts:3:49\)\nat cell 1, line 2:7$/,
  );
  match(await place(s, "1\n\n  import './throws'"), /throws\.ts:2:7[^]*cell 1, line 3:3$/);
  match(await place(s, "enum F {}\n  import './throws'"), /throws\.ts:2:7[^]*cell 1, line 2:3$/);
  await rejects(s.run("import './throws'"), /at load/);
});

test("the debugger stands where a person wrote code, not at what the compiler added", async () => {
  const s = session({
    "m.ts": "export const a: number = 1\nexport function f() { return g() }\nfunction g() {}\n",
  });
  const cells = [
    "let a: any\nfunction f() { return g() }\nfunction g() {}",
    "enum E { A }\nfunction f() { return g() }\nfunction g() {}",
  ];
  const texts = await Promise.all(cells.map((source) => s.compile(source)));
  texts.push((await s.compiler.load("./m", join(s.folder, "cell.ts"))) as never);
  for (const text of texts) {
    const { js, map } = text as { js: string; map: string };
    const lines = js.split("\n");
    const positions = positionsOf(js, map);
    const lineNumber = lines.findIndex((line) => line.includes("function f("));
    const line = lines[lineNumber]!;
    equal(
      positions.toSource({ lineNumber, columnNumber: line.indexOf(names.tick) }),
      undefined,
      js,
    );
    deepEqual(
      positions.toSource({ lineNumber, columnNumber: line.indexOf("return") })?.line,
      2,
      js,
    );
    equal(positions.toSource(positions.toScript(2)!)?.line, 2, js);
    equal(positions.toSource({ lineNumber: lines.length - 1, columnNumber: 0 }), undefined, js);
    equal(positions.toSource({ lineNumber: 0, columnNumber: 0 }), undefined, js);
  }
});

test("what a script declares beside the global object is read, assigned and asked for", async () => {
  const s = session();
  await s.run(
    'import { runInThisContext } from "node:vm"; runInThisContext("const fixed91 = 4; let loose91 = 5;")',
  );
  const cell = (code: string) => s.run(`%%nocheck\n${code}`);
  equal(await cell("fixed91 + loose91"), 9);
  equal(await cell("loose91 = 6; typeof loose91 + loose91"), "number6");
  equal(await cell("typeof nowhere91"), "undefined");
  await rejects(async () => await cell("fixed91 = 5"), TypeError);
  await rejects(async () => await cell("nowhere91"), /nowhere91 is not defined/);
  await rejects(async () => await cell("nowhere91 = 1"), /nowhere91 is not defined/);
});
