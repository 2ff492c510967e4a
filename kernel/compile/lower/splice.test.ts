import { ok } from "node:assert/strict";
import { test } from "node:test";
import { same, spliced } from "./testing/beside-printer.js";

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
];

test("splice() makes what TypeScript's printer makes", () => {
  for (const text of cells) {
    same(text);
    ok(spliced(text), text);
  }
});

test("splice() leaves to TypeScript what is more than JavaScript and types", () => {
  const others = [
    "enum E { A }",
    "namespace N { export const a = 1 }",
    "class A { constructor(private a: number) {} }",
    "class A { @f m() {} }",
    "class A { accessor a = 1 }",
    "using a = y",
    "for (using a of y) f(a)",
    "C.One + C.Two",
    "x; import 'a'",
    "export * from 'a'",
    "export default x",
    "import a = require('a')",
    "const a = async <T>(\nb: T): Promise<\nT> => b",
    "x<!--y",
    "//# sourceURL=elsewhere",
  ];
  for (const text of others) {
    ok(!spliced(text), text);
    same(text);
  }
  ok(!spliced("<a/>", true));
});

test("splice() treats plain JavaScript alike", () => {
  for (const text of [
    "free + typeof free",
    "x = free\n;(free)()",
    "({ free })",
    "class A { a = 1;\n *b() {} }",
  ]) {
    ok(spliced(text, true), text);
    same(text, true);
  }
});
