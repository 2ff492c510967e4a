// What is seen where a program stands: one kernel, whose state is kept from case to case.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Variable } from "../../kernel/wire/debug/protocol.js";
import { DebugClient, type Stop } from "./debug-client.js";

const folder = mkdtempSync(join(tmpdir(), "arpo-debugger-"));
let client: DebugClient;
let stop: Stop;
let running: ReturnType<DebugClient["kernel"]["start"]>;

const code = `const weights = new Float32Array(5000).fill(0.5);
const tensor = {
  shape: [2, 2], dtype: "float32", size: 4, isDisposed: false,
  dataSync: () => Float32Array.of(1, 2, 3, 4), data: async () => Float32Array.of(1, 2, 3, 4),
};
class Forest {
  trees = ["oak", "elm"];
  get count(): number { return this.trees.length; }
  [Symbol.for("arpo-lab.summary")]() { return { group: "Trees", text: "2 trees" }; }
}
const forest = new Forest();
const ages = new Map([["oak", 300], ["elm", 80]]);
let text = "leaf";
const outer = (n: number) => {
  const row = { n, list: [1, 2, 3], deep: { er: true } };
  let local = n + 1;
  return [row, local, text] as const;
};
const got = outer(earlier);`;

before(async () => {
  client = await DebugClient.start({ cwd: folder });
  await client.kernel.execute("let earlier = 41; const fixed = 1;");
  await client.breakAt(code, 17);
  running = client.kernel.start(code);
  stop = await client.stopped();
});
after(async () => {
  await client.close();
  rmSync(folder, { recursive: true });
});

const locals = async () => await client.scope(stop.frameId, "Locals");
const cell = async () => await client.scope(stop.frames[1]!.id, "Locals");
const shown = ({ type, value }: Variable) => `${String(type)}: ${value}`;

test("locals are those of the function, without what the compiler wrote", async () => {
  assert.deepEqual([...(await locals()).keys()].sort(), ["local", "n", "row"]);
  const around = await client.scope(stop.frameId, "Closure");
  assert.ok(around.has("text") && ![...around.keys()].some((name) => name.startsWith("__")));
});

test("the session's variables have a scope of their own", async () => {
  const session = await client.scope(stop.frameId, "Session");
  assert.equal(session.get("earlier")!.value, "41");
});

test("values are words and numbers: a summary, a tensor, an array, a map, an object", async () => {
  const variables = await cell();
  const line = (name: string) => shown(variables.get(name)!);
  assert.equal(line("forest"), "Forest: Forest 2 trees");
  assert.equal(line("tensor"), "Object: float32 [2, 2] 1, 2, 3, 4");
  assert.equal(
    line("weights"),
    "Float32Array: Float32Array(5000) [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, …]",
  );
  assert.equal(line("ages"), "Map: Map 2 entries");
  assert.equal(line("text"), 'string: "leaf"');
  assert.equal(
    shown((await locals()).get("row")!),
    "Object: { n: 41, list: Array(3), deep: Object }",
  );
});

test("an object is looked into, and what it computes is computed when it is opened", async () => {
  const forest = (await cell()).get("forest")!;
  const inside = await client.inside(forest);
  assert.deepEqual([...inside.keys()], ["trees", "count"]);
  assert.equal(inside.get("trees")!.evaluateName, "forest.trees");
  const count = inside.get("count")!;
  assert.deepEqual(count.presentationHint, { lazy: true });
  assert.equal((await client.inside(count)).get("value")!.value, "2");
  const oak = await client.inside(inside.get("trees")!);
  assert.deepEqual([oak.get("0")!.value, oak.get("0")!.evaluateName], ['"oak"', "forest.trees[0]"]);
});

test("a tensor is looked into: its shape, and its numbers when they are opened", async () => {
  const parts = await client.inside((await cell()).get("tensor")!);
  assert.deepEqual([...parts.keys()], ["shape", "dtype", "size", "values"]);
  assert.equal(
    (await client.inside(parts.get("values")!)).get("value")!.value,
    "Float32Array(4) [1, 2, 3, 4]",
  );
});

test("long arrays come in pages", async () => {
  const weights = (await cell()).get("weights")!;
  assert.equal(weights.indexedVariables, 5000);
  const page = await client.inside(weights, { filter: "indexed", start: 4000, count: 3 });
  assert.deepEqual([...page.keys()], ["4000", "4001", "4002"]);
  assert.equal((await client.inside(weights)).size, 1000);
});

test("a map's entries are keys and values", async () => {
  const entries = await client.inside((await cell()).get("ages")!);
  assert.equal(entries.get("0")!.value, '"oak" → 300');
  const first = await client.inside(entries.get("0")!);
  assert.deepEqual(
    [...first.values()].map(({ value }) => value),
    ['"oak"', "300"],
  );
});

test("expressions are evaluated in a frame, in TypeScript, with names of any cell", async () => {
  assert.equal(await client.evaluate("row.n + local + earlier", stop.frameId), "124");
  assert.equal(await client.evaluate("(row as any).deep!.er", stop.frameId), "true");
  assert.equal(
    await client.evaluate("[1, 2].map((n) => n * earlier)", stop.frameId),
    "Array(2) [41, 82]",
  );
  assert.equal(await client.evaluate("text", stop.frames[1]!.id), '"leaf"');
  assert.equal(await client.evaluate("const t = row.n; t * 2", stop.frameId), "82");
});

test("what is evaluated to an object can be looked into", async () => {
  const args = { expression: "row.deep", frameId: stop.frameId, context: "watch" };
  const found = await client.ask<Variable>("evaluate", args);
  assert.equal((await client.inside(found)).get("er")!.value, "true");
});

test("a hover changes nothing", async () => {
  assert.equal(await client.evaluate("row.list", stop.frameId, "hover"), "Array(3) [1, 2, 3]");
  const args = { expression: "local = 99", frameId: stop.frameId, context: "hover" };
  assert.match(await client.refusal("evaluate", args), /side-effect/);
  assert.equal(await client.evaluate("local", stop.frameId), "42");
});

test("mistakes in expressions are told", async () => {
  const ask = (expression: string) =>
    client.refusal("evaluate", { expression, frameId: stop.frameId });
  assert.match(await ask("nobody"), /nobody is not defined/);
  assert.match(await ask("1 +"), /Expression expected/);
  assert.match(await ask("await null"), /Cannot await here/);
  assert.match(await ask("(() => { throw new RangeError('far') })()"), /RangeError: far/);
});

test("variables, properties and the session's values are set", async () => {
  const reference = async (name: string) => {
    const { scopes } = await client.ask<{ scopes: { name: string; variablesReference: number }[] }>(
      "scopes",
      { frameId: stop.frameId },
    );
    return scopes.find((one) => one.name === name)!.variablesReference;
  };
  const set = async (variablesReference: number, name: string, value: string) =>
    await client.ask<Variable>("setVariable", { variablesReference, name, value });
  assert.equal((await set(await reference("Locals"), "local", "n * 100")).value, "4100");
  assert.equal(
    (await set(await reference("Closure"), "text", '"branch" as string')).value,
    '"branch"',
  );
  assert.equal((await set(await reference("Session"), "earlier", "7")).value, "7");
  const row = (await locals()).get("row")!;
  assert.equal((await set(row.variablesReference, "n", "5")).value, "5");
  const list = (await client.inside(row)).get("list")!;
  assert.equal((await set(list.variablesReference, "1", "20")).value, "20");
  assert.equal(
    await client.evaluate("[row.n, row.list[1], local, text, earlier].join()", stop.frameId),
    '"5,20,4100,branch,7"',
  );
  const refused = { variablesReference: await reference("Session"), name: "fixed", value: "2" };
  assert.match(await client.refusal("setVariable", refused), /declared const/);
});

test("a value is shown as a cell would show it", async () => {
  const { data } = await client.ask<{ data: Record<string, unknown> }>("richInspectVariables", {
    variableName: "row",
    frameId: stop.frameId,
  });
  assert.match(String(data["text/plain"]), /deep/);
});

test("a local variable is copied to the session, where later cells know it", async () => {
  const args = { srcVariableName: "row", dstVariableName: "kept", srcFrameId: stop.frameId };
  await client.ask("copyToGlobals", args);
  assert.match(
    await client.refusal("copyToGlobals", { ...args, dstVariableName: "no name" }),
    /must be a name/,
  );
});

test("the kernel answers while it stands", async () => {
  const { content } = await client.kernel.request("control", "kernel_info_request");
  assert.equal(content["status"], "ok");
  const completed = await client.kernel.request("shell", "complete_request", {
    code: "earl",
    cursor_pos: 4,
  });
  assert.deepEqual(completed.content["matches"], ["earlier"]);
  assert.ok((await client.kernel.beat()) < 60_000);
});

test("the cell goes on with what was set", async () => {
  const old = (await locals()).get("row")!;
  assert.equal((await client.finish(running)).reply["status"], "ok");
  assert.match(
    await client.refusal("variables", { variablesReference: old.variablesReference }),
    /gone on since/,
  );
  assert.match(await client.refusal("next", { threadId: 1 }), /is running, or has ended/);
  const { result } = await client.kernel.execute(
    "[got[0].n, got[1], got[2], earlier, kept.list[1]].join()",
  );
  assert.deepEqual(result, { "text/plain": "'5,4100,branch,7,20'" });
});

test("the session's variables are listed and looked into while nothing stands", async () => {
  const { variables } = await client.ask<{ variables: Variable[] }>("inspectVariables");
  const forest = variables.find(({ name }) => name === "forest")!;
  assert.deepEqual([forest.group, forest.value], ["Trees", "Forest 2 trees"]);
  assert.equal((await client.inside(forest)).get("trees")!.value, 'Array(2) ["oak", "elm"]');
  assert.equal(await client.evaluate("earlier + 1"), "8");
  const { data } = await client.ask<{ data: Record<string, unknown> }>("richInspectVariables", {
    variableName: "forest",
  });
  assert.match(String(data["text/plain"]), /Forest/);
});

test("a reward's file is stopped in while trainOn() trains, with its batch in words", async () => {
  const path = join(folder, "reward.ts");
  writeFileSync(
    path,
    `import type { JudgedTrajectory } from "arpo-lab/learn";

export function reward(judged: JudgedTrajectory): number {
  const { length } = judged.response;
  return length;
}
`,
  );
  await client.breakIn(path, { line: 5, condition: "length >= 0" });
  const training = client.kernel.start(`import { tasks } from "arpo-lab/run";
import { Model } from "arpo-lab/model";
import { Policy } from "arpo-lab/policy";
import { CodePointTokenizer } from "arpo-lab/experimental/testing";
import { trainOn } from "arpo-lab/run";
import { ToolSet } from "arpo-lab/tools";
import { reward } from "./reward.js";
const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
const policy = Policy.fromModel(Model.init({ ...sizes, contextLength: 128 }, 1), new CodePointTokenizer());
const options = { preset: "grpo", steps: 1, prompts: 1, n: 2, live: false, tools: new ToolSet() } as const;
const run = await trainOn(policy, tasks.calc({ train: 2, test: 1 }), { ...options, reward });
run.steps.length`);
  const inside = await client.stopped();
  assert.equal(inside.at[0], "reward:5");
  assert.match(await client.evaluate("typeof judged.response", inside.frameId), /string/);
  const length = await client.evaluate("length", inside.frameId);
  assert.equal(await client.evaluate("judged.response.length", inside.frameId), length);
  // The toolkit called it: its functions stand below, in the background.
  assert.ok(inside.frames.some(({ presentationHint }) => presentationHint === "subtle"));
  assert.match(await client.evaluate("policy", inside.frameId), /^ModelPolicy model, context 128/);
  await client.breakIn(path);
  assert.deepEqual((await client.finish(training)).result, { "text/plain": "1" });
});

test("a reward's file that Node loads, as a configuration names it, is stopped in from its first line", async () => {
  const path = join(folder, "configured.ts");
  writeFileSync(join(folder, "scale.ts"), "export const scale: number = 10;\n");
  const text = `import type { JudgedTrajectory } from "arpo-lab/learn";
import { scale } from "./scale.js";

interface Unused { a: number }
const top: number = scale + 1;

export function compute_score(judged: JudgedTrajectory): number {
  const { length } = judged.response;
  return length * scale + top;
}
`;
  writeFileSync(path, text);
  await client.breakIn(path, 5, { line: 9, condition: "(length as number) * scale > 30" });
  const loading = client.kernel
    .start(`import { judgedTrajectory, loadReward } from "arpo-lab/learn";
const scoreOf = (await loadReward("./configured.ts")) as (judged: unknown) => number;
const judged = ["abc", "abcd"].map((response) => judgedTrajectory({ response, groundTruth: "" }));
judged.map((one) => scoreOf(one)).join()`);
  const top = await client.stopped();
  assert.equal(top.line, 5);
  assert.equal(top.frames[0]!.source!.path, path);
  assert.equal(await client.evaluate("scale", top.frameId), "10");
  const inside = await client.go("continue");
  assert.equal(inside.at[0], "compute_score:9");
  assert.equal(await client.evaluate("[length, scale, top].join()", inside.frameId), '"4,10,11"');
  assert.equal((await client.scope(inside.frameId, "Locals")).get("length")!.value, "4");
  const { modules } = await client.ask<{ modules: { path: string }[] }>("modules");
  assert.ok(modules.some((module) => module.path === path));
  const { content } = await client.ask<{ content: string }>("source", { source: { path } });
  assert.equal(content, text);
  assert.deepEqual((await client.finish(loading)).result, { "text/plain": "'41,51'" });
});

test("the same file imported by a cell too has its breakpoints in both", async () => {
  const path = join(folder, "configured.ts");
  await client.breakIn(path, { line: 9, condition: "length * scale === 10" });
  const both = client.kernel.start(`import { compute_score } from "./configured.js";
const one = judgedTrajectory({ response: "a", groundTruth: "" });
[compute_score(one), scoreOf(one)].join()`);
  for (const command of [undefined, "continue"] as const) {
    const stop = command === undefined ? await client.stopped() : await client.go(command);
    assert.equal(stop.at[0], "compute_score:9");
    assert.equal(await client.evaluate("scale + length", stop.frameId), "11");
  }
  await client.breakIn(path);
  assert.deepEqual((await client.finish(both)).result, { "text/plain": "'21,21'" });
});
