import assert from "node:assert/strict";
import { after, test } from "node:test";
import { integerArithmetic, pythonTool } from "./python-tool.js";
import { pyodidePool } from "./pyodide-python.js";

const pool = pyodidePool({ workers: 1 });
after(() => pool.dispose());

/** Arithmetic as a model might write it, from a seed. */
function* expressions(count: number): Generator<string> {
  let state = 1;
  const draw = (below: number): number => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
  const pick = (of: readonly string[]): string => of[draw(of.length)]!;
  const made = (depth: number): string => {
    if (depth === 0 || draw(4) === 0) return `${pick(["", "", "-", "- -"])}${draw(3000)}`;
    const inner = `${made(depth - 1)}${pick([" ", ""])}${pick(["+", "-", "*", "//", "%"])}${pick([" ", ""])}${made(depth - 1)}`;
    return draw(3) === 0 ? `(${inner})` : inner;
  };
  for (let i = 0; i < count; i++) yield made(1 + draw(4));
}

test("integerArithmetic() prints what Python prints, or leaves the code to Python", async () => {
  let answered = 0;
  const wrong: string[] = [];
  const all = [
    ...expressions(300),
    ...["print(2569 - 40)", "print((3 + 4) * -2 // 5)", "1069-40  ", "7 // 0", "5 % 0", "007"],
    ...["1_000 + 1", "2 ** 10", "7 / 2", "(1)(2)", "print(1)(2)", " 1 + 1", "1 +", "print()"],
    ...["1\n2", "1 +\n2", "0x10", "1.5 + 1", "1504 is 1504", "9" + "0".repeat(150), "()", "--5"],
    ...["print(1, 2)", "print (1)", "(1,)", "1 if 1", "print(1) + 1", "+", "1 1", "00", "1 2 + 3"],
  ];
  for (const code of all) {
    const given = integerArithmetic(code);
    if (given === undefined) continue;
    answered++;
    const run = await pool.run(code);
    if (!run.ok || run.text !== given) wrong.push(`${code}: ${given}, Python ${run.text}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(answered > 250, `${answered} answered`);
});

test("pythonTool() answers arithmetic on whole numbers without starting Python", async () => {
  const tool = pythonTool();
  const call = { signal: new AbortController().signal, timeoutMs: 10_000 };
  const result = await tool.execute("1069-40", call as never);
  const details = { status: 0, timedOut: false };
  assert.deepEqual(result, { text: "1029", ok: true, details });
  assert.equal(tool.pool.size, 0);
  await tool.dispose?.();
});
