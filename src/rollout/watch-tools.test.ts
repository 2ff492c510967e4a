import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../tests/until.js";
import { calculator } from "../tools/calculator/calculator.js";
import { ToolSet } from "../tools/tool-set.js";
import type { Tool } from "../tools/tool.js";
import { rollout } from "./rollout.js";
import { ScriptedPolicy } from "./testing/scripted-policy.js";
import { ToolWatch } from "./watch-tools.js";

const tool = (tag: string, execute: unknown): Tool => ({
  ...{ name: tag, tag, description: "" },
  execute: execute as Tool["execute"],
});
const caller = () =>
  new ScriptedPolicy(({ turn }) => ({ text: turn === 0 ? "<ask>x</ask>" : "done\u0001" }));

/** What a rollout prints. */
async function printed(work: () => Promise<unknown>): Promise<string> {
  const { write } = process.stderr;
  let text = "";
  process.stderr.write = ((chunk: string) => (text += chunk) !== "") as typeof write;
  try {
    await work();
  } finally {
    process.stderr.write = write;
  }
  return text;
}

test("a tool that throws or gives no text: the model reads that it failed, the person why, once a tool", async () => {
  for (const [execute, why] of [
    [() => assert.fail("key /home/me/secret is gone"), "key /home/me/secret is gone"],
    [() => 7, "the tool <ask> must return text or { text, ok }, got 7"],
    [() => ({}), "the tool <ask> must return text or { text, ok }, got an object"],
    [() => undefined, "the tool <ask> must return text or { text, ok }, got undefined"],
    [() => ({ text: "a" }), "the tool <ask> must return text or { text, ok }, got an object"],
  ] as const) {
    let read = "";
    const lines = await printed(async () => {
      const tree = await rollout(caller(), "?", { n: 3, tools: [tool("ask", execute)] });
      const [{ tool: called }] = tree.nodes.filter(({ kind }) => kind === "tool") as [
        (typeof tree.nodes)[0],
      ];
      read = called!.text;
    });
    assert.equal(read, "Error: Tool(ask) execution failed.");
    assert.equal(lines, `arpo-lab: the tool <ask> failed in 3 of 3 calls: ${why}\n`);
  }
  const failing = { n: 3, tools: [tool("ask", () => 7)] };
  assert.equal(await printed(() => rollout(caller(), "?", { ...failing, quiet: true })), "");
});

test("a call that the model made wrongly, and one that gives nothing, are no failures of a tool", async () => {
  const lines = await printed(() =>
    rollout(caller(), "?", { tools: [tool("ask", () => "")], callLimit: 1 }),
  );
  assert.equal(lines, "");
});

test("what is waited for is told once, while it is waited for", async () => {
  const told: string[] = [];
  const watched = { tags: ["ask"], timeoutMs: 120_000, responseLength: 8, uncalled: "" };
  const watch = new ToolWatch(watched, (line) => told.push(line), 20);
  const at = { tree: 0, trajectory: 0, round: 0 };
  watch.see({ type: "call", ...at, tag: "ask", input: "x" });
  await until(() => told.length > 0, "it is told");
  assert.deepEqual(told, [
    "waiting for the tool <ask> for 0 s; a call may take 120 s (new ToolSet(tools, { timeoutMs }))",
  ]);
  watch.end();
});

test("how far rollouts are is told while some have not ended", () => {
  const told: string[] = [];
  const watched = { tags: ["ask"], timeoutMs: 1000, responseLength: 8, uncalled: "" };
  const watch = new ToolWatch(watched, (line) => told.push(line));
  watch.tellProgress();
  const at = { tree: 0, trajectory: 0 };
  watch.see({ type: "trajectory" });
  watch.tellProgress();
  watch.see({ type: "call", ...at, round: 0, tag: "ask", input: "" });
  watch.see({ type: "end", ...at, end: "answer" });
  watch.tellProgress();
  // The next step of a training run counts anew.
  for (let i = 0; i < 2; i++) watch.see({ type: "trajectory" });
  watch.see({ type: "end", ...at, end: "answer" });
  watch.tellProgress();
  assert.deepEqual(told, [
    "rolling out for 0 s: trajectories ended: 0",
    "rolling out for 0 s: trajectories ended: 0 of 1 that began",
    "rolling out for 0 s: trajectories ended: 1 of 2 that began",
  ]);
  watch.end();
});

test("rollouts in which nothing is called say so, with the likely reason", () => {
  const told: string[] = [];
  const watched = { tags: ["ask"], timeoutMs: 1000, responseLength: 8, uncalled: "no reason" };
  const ended = (end: "length" | "answer") =>
    ({ type: "end", tree: 0, trajectory: 0, end }) as const;
  // Once a process: this is the first.
  const watch = new ToolWatch(watched, (line) => told.push(line));
  watch.see(ended("length"));
  watch.see(ended("answer"));
  watch.end();
  const again = new ToolWatch(watched, (line) => told.push(line));
  again.see(ended("answer"));
  again.end();
  assert.deepEqual(told, [
    "no trajectory called a tool (ask): 50% were cut at 8 tokens; set responseLength",
  ]);
});

test("a tool of no arguments is called by its tags alone; another one's empty call is none", async () => {
  const empty = new ScriptedPolicy(({ turn }) => ({
    text: turn === 0 ? "<look> </look>" : "so\u0001",
  }));
  for (const [given, end] of [
    [tool("look", () => "a door"), "answer"],
    [
      {
        ...tool("look", (at: string) => `a door, ${at}`),
        parameters: { type: "object", properties: {} },
      },
      "answer",
    ],
    [tool("look", (where: string) => where), "bad-call"],
    [
      { ...tool("look", () => ""), parameters: { properties: { at: { type: "string" } } } },
      "bad-call",
    ],
  ] as const) {
    const tree = await rollout(empty, "?", { tools: new ToolSet([given]), quiet: true });
    assert.equal(tree.trajectories[0]!.end, end);
  }
  class Room {
    readonly tools = { look: "Looks around.", go: "Goes somewhere." };
    reset(): void {}
    look(): string {
      return "a door";
    }
    go(where: string): string {
      return where;
    }
  }
  const seen = await rollout(empty, "?", { environment: Room, quiet: true });
  assert.match(seen.trajectories[0]!.text, /a door/);
  const gone = new ScriptedPolicy(() => ({ text: "<go></go>" }));
  const tree = await rollout(gone, "?", { environment: Room, quiet: true });
  assert.equal(tree.trajectories[0]!.end, "bad-call");
  // Nothing but a closing tag is no call of anything.
  const closed = new ScriptedPolicy(() => ({ text: "so </look>" }));
  const other = await rollout(closed, "?", { tools: [tool("look", () => "a door")], quiet: true });
  assert.equal(other.trajectories[0]!.end, "bad-call");
});

test("an environment's exception is told to the person, and to the model as a failed call", async () => {
  class Broken {
    readonly tools = { ask: "Asks." };
    reset(): void {}
    ask(input: string): string {
      throw new Error(`the world of ${input} is gone`);
    }
  }
  let text = "";
  const lines = await printed(async () => {
    const tree = await rollout(caller(), "?", { environment: Broken });
    ({ text } = tree.trajectories[0]!);
  });
  assert.match(text, /<result>\nError: Tool\(ask\) execution failed\.\n<\/result>/);
  assert.equal(lines, "arpo-lab: the tool <ask> failed in 1 of 1 call: the world of x is gone\n");
});

test("evaluations print their tools' failures too", async () => {
  const { evaluate } = await import("../eval/evaluate.js");
  const tasks = [{ prompt: "?" }, { prompt: "!" }];
  const options = { tools: [calculator(), tool("ask", () => 7)], reward: () => 1 };
  const lines = await printed(() => evaluate(caller(), tasks, options));
  assert.match(lines, /^arpo-lab: the tool <ask> failed in 2 of 2 calls: .* got 7\n$/);
  assert.equal(await printed(() => evaluate(caller(), tasks, { ...options, quiet: true })), "");
});
