import { equal, match } from "node:assert/strict";
import { test } from "node:test";
import { DoesNotCompile, TestSession } from "./test-session.js";

const declared = `
interface Options { size?: number; kind?: "near" | "far"; nested?: { deep: number } }
declare function one(name: string, options?: Options): void;
declare function two(name: string, options?: Options): void;
declare function two(names: string[], options?: Options): void;
`;

/** What a cell's first error says, and all that the compiler says of it. */
async function said(code: string): Promise<{ message: string; full?: string }> {
  const session = new TestSession(process.cwd());
  try {
    await session.run(declared + code);
  } catch (error) {
    if (error instanceof DoesNotCompile) return error.diagnostics[0]!;
    throw error;
  }
  throw new Error("It compiles");
}

const cases: [code: string, message: string][] = [
  [
    "one('a', { sise: 1 })",
    "Cannot call one: there is no sise; accepted are size, kind and nested. Did you mean size?",
  ],
  [
    "two('a', { sise: 1 })",
    "Cannot call two: there is no sise; accepted are size, kind and nested. Did you mean size?",
  ],
  ["one('a', { size: 'x' })", "Cannot call one: size must be number, got string"],
  ["two('a', { size: 'x' })", "Cannot call two: size must be number, got string"],
  [
    "one('a', { kind: 'nera' })",
    'Cannot call one: kind must be "near" or "far", got "nera". Did you mean "near"?',
  ],
  ["two(3)", "Cannot call two: argument 1 must be string or string[], got number"],
  [
    "const o: Options = { sise: 1 }",
    "Cannot make this object: there is no sise; accepted are size, kind and nested. Did you mean size?",
  ],
  ["const n: number = 'a'", "Type 'string' is not assignable to type 'number'."],
  [
    'import { addLora } from "arpo-lab"; addLora',
    `Module '"arpo-lab"' has no exported member 'addLora'. Import it from "arpo-lab/model".`,
  ],
  [
    'import { noSuchName } from "arpo-lab"; noSuchName',
    `Module '"arpo-lab"' has no exported member 'noSuchName'.`,
  ],
];
for (const [code, message] of cases) {
  test(`the error of ${code} is one line`, async () => {
    equal((await said(code)).message, message);
  });
}

test("what a short error leaves out is kept", async () => {
  match((await said("two(3)")).full ?? "", /^No overload matches this call\.\n[^]*Overload 2 of 2/);
  equal((await said("const n: number = 'a'")).full, undefined);
});
