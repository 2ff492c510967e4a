import { deepEqual, equal, ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import vm from "node:vm";
import { names as own } from "../../contract/added.js";
import type { ColumnMap } from "../../contract/column-map.js";
import type { api } from "../check/typescript.js";
import { World } from "../check/world.js";
import { lower, type Lowered } from "./lower.js";
import { SessionNames } from "./scope.js";

const world = new World(process.cwd(), {});
world.ensure();
const names = new SessionNames(world.ts);

/** Earlier cells, whose names others use. */
const earlier = `
let x = 1; let y: any; let f: any; let tag: any; class Base<T = any> { v: T }
const enum C { One = 1, Two = -2 } interface Shape { side: number }
`;
for (const [key, symbol] of world.bind("/cells/0.ts", earlier, false).locals ?? []) {
  names.set(key, symbol, (each) => each.flags);
}

interface Kind {
  javascript?: boolean;
  isModule?: boolean;
}

/** Compiles a text and parses the script that it became. */
function compile(text: string, { javascript = false, isModule = false }: Kind = {}): Lowered {
  const file = world.bind(javascript ? "/cells/1.js" : "/cells/1.ts", text, javascript);
  deepEqual(file.parseDiagnostics, [], text);
  (file as { parent: api.Node }).parent = names.node;
  const enter = own.scope;
  const session = isModule ? undefined : names;
  const made = lower({ world, file, source: "1.ts", names: session, late: javascript, enter });
  new vm.Script(made.js);
  return made;
}

/** Checks that a text was changed where it stands: line by line, with copies where the map has them. */
function isChangedInPlace(text: string, kind?: Kind): void {
  const { js, map } = compile(text, kind);
  const parsed = JSON.parse(map) as Partial<ColumnMap>;
  ok(parsed.columns, text);
  const from = text.split("\n");
  const to = js.split("\n").slice(1, kind?.isModule ? -1 : -2);
  equal(to.length, from.length, text);
  for (const [i, line] of to.entries()) {
    const runs: ColumnMap["columns"][number] = parsed.columns[i + 1] ?? [];
    for (const [at, run] of runs.entries()) {
      const [start, source, copied] = run;
      if (!copied) continue;
      const copy = line.slice(start, runs[at + 1]?.[0]);
      equal(from[i]!.slice(source, source + copy.length), copy, `${text}\n${js}`);
    }
  }
}

const cells = [
  "1 + 1",
  "x",
  "x;",
  "x // a remark",
  "const a: number = 1, [b, { c = x }]: any = [1, {}]; var d: string\nlet e!: Shape",
  "const g = <T,>(a: T): T => a\n;[1].map(g)",
  "function h<T extends Shape>(this: any, a?: T, ...b: T[]): asserts a is T { f(a); return }\nh",
  "function h(a: string): void; function h(a: any) { 'use strict'\nf(a) }",
  "async function* k<T>() { for await (const v of y as T[]) yield* f(v)!; }",
  "f\n(x)",
  "const a = y as any\nf(a)",
  "let a: number\n;(x)",
  "y! as any\nf<string>(x)\ntag<string>`a${x}`",
  "type T = number\ninterface I { a: T }\ndeclare const q: string\n;(x)",
  "() => <any>{ a: x }",
  "const a = (): any => <any>{ a: x }\nconst o = { x, y, f: () => f(), m<T>(a?: T) { return f(a) } }",
  "({ x, y = 2 } = y as any);\n[x, y] = [1, 2]; ({ a: x } = y)",
  "for (x of [1]) f(x)\nfor (const k in y) for (;;) { break }\ndo x++\nwhile (x < 3)\nwhile (f()) x--",
  "if (x) f()\nelse y = <any>\nx",
  "abstract class A<T> extends Base<T> implements Shape { side = 1;\n ['m']() { return f() }\n" +
    "  private static readonly n?: number = x\n declare z: number\n abstract q(): void\n" +
    "  constructor(a?: any) { super(); f(a) }\n get g(): number { return x } set g(v: number) { f(v) }\n" +
    "  static { f() }\n override toString(): string { return '' }\n [k: string]: any\n #p!: number\n public *i() {} }",
  "const K = class<T> { a: T\n b = 1\n ['c'] = 2 }",
  "try { f() } catch (e: unknown) { y = e }\nlabel: for (;;) { continue label }",
  "const m = await import('node:fs'); import.meta.url; typeof x; new Base<number>(); new y.z<string>",
  "import fs, { type Stats, readFileSync as r } from 'node:fs'\nimport type { A } from 'a'\nimport * as p from 'node:path'\nr(p.sep as any); fs",
  "import 'a'; export const a = 1; export { a as b }; export function q() { return f() } export class Z {}",
  "x; import 'a'\nimport { sep } from 'node:path'; sep",
  "export * from 'a'; export * as ns from 'b'; export { q, type R } from 'c'; export type * from 'd'",
  "export default x as any",
  "export default function* () { yield f() }",
  "export default class<T> { a: T }",
  "import a = require('a'); import type b = require('b'); a",
  "{ var inner = x; let hidden = 1 }\nfor (var i = 0; i < 3; i++) { var j = f(i) }\ninner",
  "const s = { a: 1 } satisfies Shape | any\ns?.a!.toFixed<any>?.(x)\ny?.[x]!(1)",
  "const w = f(f<number>, (<any>x)(1), (y as any)(2), (f)(3), f!(4))",
  "namespace N { export interface A {} }\nx",
  "const t = `${x}${`${(y as any)}`}`; /`/.test(t); x ? y as any : <any>f",
  "async (a: number): Promise<number> => await f(a)",
  "const r = function* <T>(a: T): Generator<T> { yield a as T\n yield }\nreturned: { break returned }",
  "label: while (true) if (x) break label; else continue",
  "var { a1, ...rest }: any = y, b1 = (0, f)(a1), c1 = a1 as\nany\nf(rest)",
  "switch (x as any) { case <any>1: f(); break\n default: y }",
  "throw <any>\nf(x)",
  "C.One + C.Two",
];

test("what is JavaScript and types is changed where it stands", () => {
  for (const text of cells) {
    isChangedInPlace(text);
    isChangedInPlace(text, { isModule: true });
  }
});

test("what is more than JavaScript and types is left to TypeScript, with a source map", () => {
  const others = [
    "enum E { A }",
    "namespace N { export const a = 1 }",
    "class A { constructor(private a: number) {} }",
    "class A { @f m() {} }",
    "class A { accessor a = 1 }",
    "using a = y",
    "for (using a of y) f(a)",
    "const a = async <T>(\nb: T): Promise<\nT> => b",
    "x<!--y",
    "//# sourceURL=elsewhere",
  ];
  for (const text of others) {
    for (const isModule of [false, true]) {
      const { js, map } = compile(text, { isModule });
      ok("mappings" in (JSON.parse(map) as object), text);
      ok(!/^export|sourceMappingURL|sourceURL/m.test(js), js);
    }
  }
});

test("plain JavaScript is changed where it stands", () => {
  for (const text of [
    "free + typeof free",
    "x = free\n;(free)()",
    "({ free })",
    "class A { a = 1;\n *b() {} }",
  ]) {
    isChangedInPlace(text, { javascript: true });
  }
});

test("names, ticks and types are replaced, and nothing else", () => {
  const body = (text: string): string => compile(text).js.split("\n").slice(1, -2).join("\n");
  equal(body("f(x)"), "$lab··value = { value: (0, (0, $lab·f.v)($lab·x.v)) };");
  equal(body("f\n(x)"), "$lab··value = { value: (0, (0, $lab·f.v)\n($lab·x.v)) };");
  equal(
    body("let a: number\n;(x)"),
    'let a \n; $lab··cell.define("a", () => a, ($lab··value) => { a = $lab··value; });$lab··value = { value: (0, ($lab·x.v)) };',
  );
  equal(
    body("while (x) f(x);"),
    "while ($lab·x.v) /*$lab·*/{ $lab··tick(); (0, $lab·f.v)($lab·x.v);/*$lab·*/}",
  );
  equal(
    body("const g = (a: any) => f(a)"),
    'const g = (a ) => /*$lab·*/($lab··tick(), (0, $lab·f.v)(a)/*$lab·*/); $lab··cell.define("g", () => g);',
  );
  equal(body("-C.Two"), "$lab··value = { value: (0, -(-2)) };");
});

test("the package's own files are changed where they stand", () => {
  const folder = "kernel/compile";
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  let inPlace = 0;
  for (const name of files.filter((each) => /(?<!\.d)\.ts$/.test(each))) {
    const text = readFileSync(join(folder, name), "utf8");
    const { map } = compile(text, { isModule: true });
    if (!map.startsWith('{"columns"')) continue;
    isChangedInPlace(text, { isModule: true });
    isChangedInPlace(text);
    inPlace++;
  }
  ok(inPlace > 30, `${inPlace} files`);
});
