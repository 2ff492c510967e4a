import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { test } from "node:test";
import { DoesNotCompile, TestSession } from "./test-session.js";

const session = (): TestSession => new TestSession(process.cwd());

test("compile() shows the last expression and nothing else", async () => {
  const s = session();
  equal(await s.run("1 + 1"), 2);
  equal(await s.run("1 + 1;"), 2);
  equal(await s.run("const x = 3"), undefined);
  equal(await s.run("x; x * 2"), 6);
  equal(await s.run("x; const y = 1"), undefined);
  equal(await s.run('"text"'), "text");
  equal(await s.run(""), undefined);
  equal(await s.run("// nothing"), undefined);
  deepEqual(await s.run("({ a: 1 })"), { a: 1 });
  equal(((await s.run("() => 1")) as () => number).name, "");
  equal(((await s.run("enum Printed {}\n() => 1")) as () => number).name, "");
});

test("compile() carries values and types to later cells", async () => {
  const s = session();
  await s.run("let x = 10; const f = (n: number): string => 'n' + (n + x)");
  equal(await s.run("f(1)"), "n11");
  equal(await s.run("x = 20; f(1)"), "n21");
  equal(await s.run("x += 1; x++; x"), 22);
  deepEqual(await s.errors("const s: string = x"), [
    "1:7 Type 'number' is not assignable to type 'string'.",
  ]);
  deepEqual(await s.errors("\n\n  f('a')"), [
    "3:5 Argument of type 'string' is not assignable to parameter of type 'number'.",
  ]);
});

test("compile() lets a later cell declare a name again", async () => {
  const s = session();
  await s.run("let x = 1; const own = () => x; class A { a = 1 }");
  await s.run("const reads = () => x");
  await s.run("let x = 'text'; interface A { b: string }");
  equal(await s.run("x.toUpperCase()"), "TEXT");
  equal(await s.run("own()"), 1, "a function keeps the variables of its own cell");
  equal(await s.run("reads()"), "text", "and sees other cells' names as they are now");
  equal(await s.run("const i: A = { b: '' }; new A().a"), 1);
  await s.run("function g() { return 1 }");
  await s.run("function g() { return 'two' }");
  equal(await s.run("g().length"), 3);
  await s.run("enum E { P, Q }");
  await s.run("enum E { R = 'r' }");
  equal(await s.run("E.R"), "r");
});

test("compile() awaits at the top level", async () => {
  const s = session();
  equal(await s.run("const v = await Promise.resolve(4); v"), 4);
  equal(
    await s.run("let sum = 0; for await (const n of [Promise.resolve(1), 2]) sum += n; sum"),
    3,
  );
  const shown = await s.compile("Promise.resolve(5)");
  if (!shown.ok || !("js" in shown)) throw new Error("compiles");
  const box = (await s.evaluate(shown)) as Promise<number>;
  equal(await box, 5, "a promise is a value like any other");
});

test("compile() disposes of what a cell uses", async () => {
  const s = session();
  await s.run("const log: string[] = []");
  await s.run(`{
    using a = { [Symbol.dispose]: () => { log.push('a') } };
    await using b = { [Symbol.asyncDispose]: async () => { log.push('b') } };
    log.push('body');
  }`);
  deepEqual(await s.run("log"), ["body", "b", "a"]);
  equal(
    await s.run("using c = { n: 1, [Symbol.dispose]: () => { log.push('c') } }; const d = c.n; d"),
    1,
  );
  deepEqual(await s.run("[...log, d]"), ["body", "b", "a", "c", 1]);
});

test("compile() keeps what a failing cell had defined, and the rest as it was", async () => {
  const s = session();
  await s.run("const late = 'old'; let early = 0");
  await rejects(s.run("early = 1; const made = 2; throw new Error('no'); const late = 3"), /no/);
  deepEqual(await s.run("[early, made, late.length]"), [1, 2, 3]);
});

test("compile() knows enums, namespaces, classes, generics and decorators", async () => {
  const s = session();
  await s.run(`
    const enum C { One = 1, Two }
    namespace N { export const inner = 5; export namespace M { export const deep = inner + 1 } }
    abstract class Base<T> { constructor(protected value: T) {} abstract get(): T }
    function doubled(_: unknown, context: ClassGetterDecoratorContext) {
      return function (this: Box) { return 2 * this.value } as () => number;
    }
    class Box extends Base<number> { #secret = 1; get() { return this.value + this.#secret } @doubled get twice() { return 0 } static make = () => new Box(3) }
    type Pair<A, B = A> = [A, B]
  `);
  deepEqual(
    await s.run("[C.Two, N.inner, N.M.deep, Box.make().get(), new Box(4).twice]"),
    [2, 5, 6, 4, 8],
  );
  deepEqual(await s.run("const p: Pair<number> = [1, 2]; p"), [1, 2]);
  deepEqual(
    await s.run(
      "class Third extends Box { get() { return super.get() * 10 } }; new Third(1).get()",
    ),
    20,
  );
});

test("compile() rewrites names of other cells wherever a value may stand", async () => {
  const s = session();
  await s.run(
    "let a = 1, b = 2; const o = { get() { return this === undefined } }; function self(this: unknown) { return this }",
  );
  deepEqual(await s.run("({ a, b, c: a })"), { a: 1, b: 2, c: 1 });
  deepEqual(await s.run("[a, b] = [b, a]; [a, b]"), [2, 1]);
  deepEqual(
    await s.run("({ a, x: b = 9 } = { a: 7 } as { a: number, x?: number }); [a, b]"),
    [7, 9],
  );
  equal(await s.run("self()"), undefined);
  equal(await s.run("(self as () => unknown)()"), undefined);
  equal(await s.run("`${a}${typeof b}`"), "7number");
  equal(await s.run("for (a of [1, 2, 3]); a"), 3);
  equal(await s.run("((a: number) => a + 1)(10)"), 11);
  equal(await s.run("{ const a = 5; b = a } b"), 5);
  equal(await s.run("(function a() { return typeof a })()"), "function");
  equal(await s.run("self?.call(3)"), 3);
});

test("compile() hoists functions and var", async () => {
  const s = session();
  equal(await s.run("const r = hoisted(); function hoisted() { return 8 } r"), 8);
  await s.run("for (var i = 0; i < 3; i++) {} if (true) { var inBlock = 'yes' }");
  deepEqual(await s.run("[i, inBlock]"), [3, "yes"]);
});

test("compile() tolerates export", async () => {
  const s = session();
  await s.run(
    "export const e1 = 1; export function e2() { return 2 } export class E3 {} export type T = 5; const e4 = 4; export { e4 as five }",
  );
  deepEqual(await s.run("const t: T = 5; [e1, e2(), typeof E3, e4, t]"), [1, 2, "function", 4, 5]);
  equal(await s.run("export default e1 + 1"), 2);
});

test("compile() names line and column of an error", async () => {
  const s = session();
  deepEqual(await s.errors("let a = ;"), ["1:9 Expression expected."]);
  deepEqual(await s.errors("const ok = 1\nconst s = 'open"), ["2:16 Unterminated string literal."]);
  const [first] = await s.errors("nope");
  match(first ?? "", /^1:1 Cannot find name 'nope'/);
  await rejects(s.run("let z: number = 'a'"), DoesNotCompile);
});

test("compile() runs a cell with type errors when it says @ts-nocheck", async () => {
  const s = session();
  equal(await s.run("// @ts-nocheck\nconst n: number = 'a'; n"), "a");
  equal(await s.run("// @ts-nocheck\ntypeof undeclared"), "undefined");
  await rejects(s.run("// @ts-nocheck\nundeclared"), /ReferenceError|not defined/);
});
