import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FrontEnd } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start();
});
after(() => kernel.close());

/** CPU time of the kernel for a cell, in seconds: the load of the machine does not count. */
async function seconds(code: string): Promise<number> {
  const used = async (): Promise<number> => {
    const { result } = await kernel.execute(
      "(() => { const { user, system } = process.cpuUsage(); return user + system; })()",
    );
    return Number(result?.["text/plain"]) / 1e6;
  };
  const before = await used();
  await kernel.execute(code);
  return (await used()) - before;
}

const cases: Record<string, string> = {
  "a typed array of 200,000,000 numbers": "new Uint8Array(2e8)",
  "an error of 100,000 errors":
    "throw new AggregateError(Array.from({ length: 1e5 }, (_, i) => new Error('e' + i)), 'many')",
  "a chain of 10,000 causes":
    "let e = new Error('x'); for (let i = 0; i < 1e4; i++) e = new Error('y', { cause: e }); throw e",
  "brackets nested 3,000 deep": `${"[".repeat(3000)}${"]".repeat(3000)}`,
  "an error of 100,000,000 characters": "throw new Error('x'.repeat(1e8))",
  "a map of 3,000,000 entries": "new Map(Array.from({ length: 3e6 }, (_, i) => [i, i]))",
  "an object of 300,000 keys":
    "Object.fromEntries(Array.from({ length: 3e5 }, (_, i) => ['k' + i, i]))",
};
for (const [what, code] of Object.entries(cases)) {
  test(`${what} is shown in a bounded time, as a bounded text`, async () => {
    const used = await seconds(`${code};`);
    assert.ok(used < 5, `${used} s`);
    const { result, error } = await kernel.execute(code);
    const shown = JSON.stringify([result, error]);
    assert.ok(shown.length < 500_000, `${shown.length} characters`);
  });
}
