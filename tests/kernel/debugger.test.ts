// Breakpoints and steps: one kernel, whose state is kept from case to case.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { murmur2 } from "../../kernel/wire/debug/cell-files.js";
import { DebugClient } from "./debug-client.js";

const folder = mkdtempSync(join(tmpdir(), "arpo-debugger-"));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

let client: DebugClient;
before(async () => {
  client = await DebugClient.start({ cwd: folder });
});
after(async () => {
  await client.close();
  rmSync(folder, { recursive: true });
});

const start = (code: string) => client.kernel.start(code);
const value = async (code: string) => (await client.kernel.execute(code)).result?.["text/plain"];

test("a kernel says that it has a debugger, and how cells are named", async () => {
  const info = await client.kernel.request("shell", "kernel_info_request");
  assert.deepEqual(info.content["supported_features"], ["kernel subshells", "debugger"]);
  const { isStarted, hashMethod, hashSeed, tmpFilePrefix, tmpFileSuffix, breakpoints } =
    await client.ask<Record<string, unknown>>("debugInfo");
  assert.deepEqual([isStarted, hashMethod, breakpoints], [true, "Murmur2", []]);
  assert.equal(existsSync(String(tmpFilePrefix)), false, "a folder before anything is in it");
  const code = "const é = '⌘';\n";
  const { sourcePath } = await client.ask<{ sourcePath: string }>("dumpCell", { code });
  assert.equal(
    sourcePath,
    `${String(tmpFilePrefix)}${murmur2(code, Number(hashSeed))}${String(tmpFileSuffix)}`,
  );
  const { content } = await client.ask<{ content: string }>("source", {
    source: { path: sourcePath },
  });
  assert.equal(content, code);
});

test("murmur2() gives what ipykernel and JupyterLab compute", () => {
  // ipykernel.compiler.murmur2_x86(text, 0xC70F6907)
  const known: Record<string, number> = {
    "": 3990065800,
    a: 2167009006,
    ab: 2805137849,
    abc: 3350977461,
    abcd: 804720481,
    "const x = 1;\n": 2619397439,
    "é⌘𝄞": 3065421075,
  };
  for (const [text, hash] of Object.entries(known)) {
    assert.equal(murmur2(text, 0xc70f6907), hash, JSON.stringify(text));
  }
});

const loop = `const base = 10;
const twice = (n: number): number => {
  const m = n * 2;
  return m;
};
let total = 0;
for (let i = 0; i < 3; i++) {
  await null;
  total += twice(i) + base;
}
total`;

test("a breakpoint set before a cell runs stops it in a loop after an await", async () => {
  const [set] = await client.breakAt(loop, 9);
  assert.equal(set!["verified"], true);
  const running = start(loop);
  for (const i of [0, 1, 2]) {
    const stop = i === 0 ? await client.stopped() : await client.go("continue");
    assert.deepEqual([stop.reason, stop.at], ["breakpoint", ["cell 1:9"]]);
    assert.equal(await client.evaluate("i", stop.frameId), String(i));
  }
  const { result } = await client.finish(running);
  assert.deepEqual(result, { "text/plain": "36" });
  await client.breakAt(loop);
});

test("steps go into a function, on, out of it, and over an await", async () => {
  await client.breakAt(loop, 9);
  const running = start(loop);
  await client.stopped();
  await client.breakAt(loop);
  assert.deepEqual((await client.go("stepIn")).at, ["twice:3", "cell 2:9"]);
  assert.deepEqual((await client.go("next")).at, ["twice:4", "cell 2:9"]);
  // After the call nothing is left of line 9.
  assert.deepEqual((await client.go("stepOut")).at, ["cell 2:7"]);
  assert.deepEqual((await client.go("next")).at, ["cell 2:8"]);
  assert.deepEqual((await client.go("next")).at, ["cell 2:9"]);
  await client.finish(running);
});

test("a breakpoint set in an earlier cell stops a later one that calls it", async () => {
  await client.breakAt(loop, 4);
  const code = "const w = twice(total);\nw + 1";
  const running = start(code);
  const stop = await client.stopped();
  assert.deepEqual(stop.at, ["twice:4", "cell 3:1"]);
  assert.equal(await client.evaluate("m", stop.frameId), "72");
  const { result } = await client.finish(running);
  assert.deepEqual(result, { "text/plain": "73" });
  await client.breakAt(loop);
});

test("steps go through three functions, of which two are of earlier cells", async () => {
  await client.kernel.execute(
    "function four(n: number) {\n  const t = twice(n);\n  return twice(t);\n}",
  );
  const code = "const before = 1;\nconst e = four(before);\ne";
  await client.breakAt(code, 2);
  const running = start(code);
  await client.stopped();
  assert.deepEqual((await client.go("stepIn")).at, ["four:2", "cell 5:2"]);
  const inner = await client.go("stepIn");
  assert.deepEqual(inner.at, ["twice:3", "four:2", "cell 5:2"]);
  for (const [frame, name, shown] of [
    [0, "n", "1"],
    [1, "n", "1"],
    [2, "before", "1"],
  ] as const) {
    assert.equal(await client.evaluate(name, inner.frames[frame]!.id), shown);
  }
  assert.deepEqual((await client.go("next")).at, ["twice:4", "four:2", "cell 5:2"]);
  assert.deepEqual((await client.go("next")).at, ["four:3", "cell 5:2"]);
  assert.deepEqual((await client.go("stepOut")).at, ["cell 5:3"]);
  const { result } = await client.finish(running);
  assert.deepEqual(result, { "text/plain": "4" });
  await client.breakAt(code);
});

test("steps go into an async function and back to who awaits it", async () => {
  const code = `const slow = async (n: number) => {
  await new Promise((r) => setTimeout(r, 5));
  return n + 1;
};
const got = await slow(1);
got`;
  await client.breakAt(code, 5);
  const running = start(code);
  await client.stopped();
  assert.equal((await client.go("stepIn")).at[0], "slow:2");
  const resumed = await client.go("next");
  assert.equal(resumed.at[0], "slow:3");
  // The cell waits: its place is known, its variables are not.
  assert.equal(resumed.at[1], "async cell 6:5");
  assert.deepEqual(await client.ask("scopes", { frameId: resumed.frames[1]!.id }), { scopes: [] });
  assert.match(
    await client.refusal("evaluate", { expression: "n", frameId: resumed.frames[1]!.id }),
    /only its place/,
  );
  assert.equal((await client.go("stepOut")).at[0], "cell 6:6");
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "2" });
  await client.breakAt(code);
});

test("a condition decides where to stop, with names of earlier cells and types in it", async () => {
  const code = "for (let i = 0; i < 10; i++) {\n  twice(i);\n}\n'over'";
  await client.breakAt(code, { line: 2, condition: "(i as number) === base - 3" });
  const running = start(code);
  const stop = await client.stopped();
  assert.equal(await client.evaluate("i", stop.frameId), "7");
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "'over'" });
  await client.breakAt(code);
});

test("a hit count decides where to stop", async () => {
  const code = "for (let i = 0; i < 10; i++) {\n  twice(i);\n}\n'counted'";
  await client.breakAt(code, { line: 2, hitCondition: "% 4" });
  const running = start(code);
  assert.equal(await client.evaluate("i", (await client.stopped()).frameId), "3");
  assert.equal(await client.evaluate("i", (await client.go("continue")).frameId), "7");
  await client.finish(running);
  await client.breakAt(code);
});

test("a logpoint prints into the cell's output and stops nothing", async () => {
  const code = "for (let i = 0; i < 3; i++) {\n  twice(i);\n}";
  await client.breakAt(code, { line: 2, logMessage: "i is {i}, of {[total, base]}" });
  const { text, reply } = await client.kernel.execute(code);
  assert.equal(reply["status"], "ok");
  assert.equal(
    text,
    "i is 0, of Array(2) [36, 10]\ni is 1, of Array(2) [36, 10]\ni is 2, of Array(2) [36, 10]\n",
  );
  const outputs = client.events.filter(({ event }) => event === "output");
  assert.equal(outputs.at(-1)!.body["output"], "i is 2, of Array(2) [36, 10]\n");
  await client.breakAt(code);
});

test("a breakpoint whose condition is no expression says so and stops nothing", async () => {
  const code = "const quiet = 1;\nquiet";
  const [bad, count, unknown] = await client.breakAt(
    code,
    { line: 1, condition: "1 +" },
    { line: 1, hitCondition: "often" },
    { line: 2, condition: "nobody.knows" },
  );
  assert.deepEqual(
    [bad!["verified"], count!["verified"], unknown!["verified"]],
    [false, false, true],
  );
  assert.match(String(bad!["message"]), /Expression expected/);
  assert.match(String(count!["message"]), /must be a number/);
  assert.deepEqual((await client.kernel.execute(code)).result, { "text/plain": "1" });
  const told = client.events.filter(({ event }) => event === "output").at(-1);
  assert.match(String(told!.body["output"]), /nobody is not defined/);
  await client.breakAt(code);
});

test("a breakpoint on a line without code moves to the next that has some", async () => {
  const code = "// nothing\n\nconst moved = 3;\nmoved";
  await client.breakAt(code, 1);
  const running = start(code);
  assert.equal((await client.stopped()).line, 3);
  await client.finish(running);
  // The cell has run: now it is known.
  const [set] = await client.breakAt(code, 1);
  assert.equal(set!["line"], 3);
  const info = await client.ask<{ breakpoints: { breakpoints: { line: number }[] }[] }>(
    "debugInfo",
  );
  assert.deepEqual(
    info.breakpoints.map(({ breakpoints }) => breakpoints.map(({ line }) => line)),
    [[3]],
  );
  await client.breakAt(code);
});

test("a breakpoint stops in a local file, set before it is imported and after", async () => {
  const path = file(
    "helper.ts",
    `import { offset } from "./offset.js";
export interface Unused { a: number }

export function add(n: number): number {
  const sum = n + offset;
  return sum;
}
export const first = add(1);
`,
  );
  file("offset.ts", "export const offset: number = 100;\n");
  await client.breakIn(path, 5);
  const running = start('import { add, first } from "./helper.js";\nfirst');
  // While the file itself is evaluated.
  const stop = await client.stopped();
  assert.deepEqual(stop.at.slice(0, 2), ["add:5", "helper.ts:8"]);
  assert.equal(stop.frames[0]!.source!.path, path);
  assert.equal(await client.evaluate("n + offset", stop.frameId), "101");
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "101" });
  await client.breakIn(path, 6);
  const later = start("add(2)");
  const there = await client.stopped();
  assert.equal(there.line, 6);
  assert.equal(await client.evaluate("sum", there.frameId), "102");
  await client.finish(later);
  await client.breakIn(path);
  const { modules } = await client.ask<{ modules: { path: string }[] }>("modules");
  assert.ok(modules.some((module) => module.path === path));
  const { content } = await client.ask<{ content: string }>("source", { source: { path } });
  assert.match(content, /export function add/);
});

test("a file that has changed is stopped in where its lines are now", async () => {
  const path = file(
    "helper.ts",
    `// a line more
// and one more
export function add(n: number): number {
  return n + 5;
}
`,
  );
  await client.breakIn(path, 4);
  const running = start('import { add as again } from "./helper.js";\nagain(1)');
  const stop = await client.stopped();
  assert.equal(stop.at[0], "add:4");
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "6" });
  await client.breakIn(path);
});

test("a cell that TypeScript's printer made has the lines of its source", async () => {
  const code = `enum Kind { small = 1, large }

class Box {
  constructor(readonly kind: Kind) {}
  name(): string {
    return Kind[this.kind]!;
  }
}
const box = new Box(Kind.large);
box.name()`;
  await client.breakAt(code, 6);
  const running = start(code);
  const stop = await client.stopped();
  assert.equal(stop.line, 6);
  assert.equal(await client.evaluate("this.kind", stop.frameId), "2");
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "'large'" });
  await client.breakAt(code);
});

test("a cell with a magic line has the lines of its source", async () => {
  const code = "%%time\nconst timed = 4;\ntimed + 1";
  await client.breakAt(code, 3);
  const running = start(code);
  assert.equal((await client.stopped()).line, 3);
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "5" });
  await client.breakAt(code);
});

test("a debugger statement stops", async () => {
  const running = start("const here = 1;\ndebugger;\nhere");
  const stop = await client.stopped();
  assert.equal(stop.line, 2);
  await client.finish(running);
});

test("a step over an import that has breakpoints of its own keeps its way", async () => {
  file("plain.ts", "export const plain = 7;\n");
  const code = 'const early = 1;\nconst loaded = await import("./plain.js");\nloaded.plain';
  await client.breakAt(code, 1);
  const running = start(code);
  await client.stopped();
  assert.equal((await client.go("next")).line, 2);
  assert.equal((await client.go("next")).line, 3);
  assert.deepEqual((await client.finish(running)).result, { "text/plain": "7" });
  await client.breakAt(code);
});

test("what the cells made is as if nobody had stopped them", async () => {
  assert.equal(await value("[base, total, w, e, moved, timed].join()"), "'10,36,72,4,3,4'");
});
