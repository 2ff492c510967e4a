// Files of agent programs: ATIF, Pi's sessions, slime's samples, OpenTelemetry's spans, logs of Messages and Responses.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../tests/temporary.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import { importRollouts } from "./import-rollouts.js";
import type { ImportedRollouts } from "./imported-rollouts.js";
import { readRollouts } from "./read-rollouts.js";

const fixtures = "tests/fixtures/rollouts";
const call = '<tool_call>\n{"name":"add","arguments":{"a":20,"b":22}}\n</tool_call>';

const shape = ({ nodes }: RolloutTree) =>
  nodes.map(({ parent, kind, text, tool }) => [parent, kind, text.trim(), ...(tool ? [tool.tag, tool.input, tool.text] : [])]); // prettier-ignore
const result = ["add", '{"a":20,"b":22}', "42"];

const one = async (name: string): Promise<[ImportedRollouts, RolloutTree]> => {
  const imported = await importRollouts(`${fixtures}/${name}`);
  assert.equal(imported.format, name);
  assert.equal(imported.rows, 1);
  return [imported, imported.tree(0)];
};

test("importRollouts() reads ATIF: ids, log-probabilities, calls with their results", async () => {
  const [imported, tree] = await one("atif");
  const [trajectory] = tree.trajectories;
  assert.deepEqual([...tree.prompt.tokens, ...trajectory!.tokens], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.deepEqual([...trajectory!.lossMask], [1, 1, 1, 0, 0, 1]);
  assert.deepEqual(shape(tree).slice(1), [
    [0, "tool", "42", ...result],
    [1, "model", "42"],
  ]);
  assert.match(tree.nodes[0]!.text, /^<think>\nI add\.\n<\/think>/);
  assert.ok(Math.abs(trajectory!.logprobs[5]! + 0.05) < 1e-6);
  assert.match(tree.prompt.text, /Be short\.[^]*What is 20\+22\?/);
  assert.match(String(imported), /log-probs +logprobs of a step's metrics/);
});

test("ATIF: a step whose prompt does not go on is another trajectory; copied context is the prompt", () => {
  const step = (prompt: number[], ids: number[], more = {}) => ({
    ...{ source: "agent", message: "x" },
    metrics: { prompt_token_ids: prompt, completion_token_ids: ids, logprobs: ids.map(() => -1) },
    ...more,
  });
  const file = (steps: object[], more = {}) => ({ schema_version: "ATIF-v1.8", steps, ...more });
  const user = { source: "user", message: "q" };
  const forked = readRollouts([
    file([user, step([1], [2, 3]), step([1, 2, 3, 9], [4]), step([1, 7], [5])]),
  ]);
  const tokens = forked.prompts.flatMap((_, i) =>
    forked.tree(i).trajectories.map((row) => [...row.prompt, ...row.tokens]),
  );
  assert.deepEqual(tokens, [
    [1, 2, 3, 9, 4],
    [1, 7, 5],
  ]);
  const copied = { source: "agent", message: "earlier", is_copied_context: true };
  const after = readRollouts([file([user, copied, { source: "agent", message: "own" }])]);
  assert.match(after.tree(0).prompt.text, /earlier/);
  assert.deepEqual(
    after.tree(0).nodes.map(({ text }) => text),
    ["own"],
  );
  const inner = file([user, { source: "agent", message: "inner" }]);
  const outer = readRollouts([
    file(
      [
        { ...user, message: "other" },
        { source: "agent", message: "outer" },
      ],
      {
        subagent_trajectories: [inner],
        extra: { reward: 0.5 },
      },
    ),
  ]);
  assert.deepEqual(
    outer.prompts.map((_, i) => outer.tree(i).trajectories[0]!.text),
    ["outer", "inner"],
  );
  assert.deepEqual(outer.prompts[0]!.scores, [0.5]);
});

test("ATIF: what is wrong is named, and without end is refused", () => {
  const read = (record: object) =>
    readRollouts([{ schema_version: "ATIF-v1.8", ...record }], { broken: 0 });
  assert.throws(() => read({ steps: [{ source: "robot" }] }), /steps\[0\]\.source must be system, user or agent, got "robot"/); // prettier-ignore
  const metrics = { prompt_token_ids: [1], completion_token_ids: [2, 3], logprobs: [-1] };
  assert.throws(
    () => read({ steps: [{ source: "agent", message: "", metrics }] }),
    /logprobs must have/,
  );
  let deep: object = { steps: [] };
  for (let i = 0; i < 200; i++) deep = { steps: [], subagent_trajectories: [deep] };
  assert.throws(() => read(deep), /subagent_trajectories must be at most 8 deep/);
  for (let i = 0; i < 2000; i++) deep = { steps: [], subagent_trajectories: [deep] };
  assert.throws(() => read(deep), /a record may have at most 500 lists and objects within each other/); // prettier-ignore
});

test("importRollouts() reads sessions of Pi and trackio, each end of which is a trajectory", async () => {
  const [imported, tree] = await one("pi");
  assert.deepEqual(imported.prompts[0]!.scores, [1]);
  assert.equal(shape(tree)[0]![2], call);
  assert.deepEqual(shape(tree)[1]!.slice(3), result);
  assert.equal(shape(tree)[2]![2], "42");

  const entry = (id: string, parentId: string | null, role: string, text: string) => ({
    ...{ type: "message", id, parentId },
    message: { role, content: [{ type: "text", text }] },
  });
  const session = (id: string) => ({ type: "session", version: 3, id });
  const records = [
    session("a"),
    entry("1", null, "user", "q"),
    entry("2", "1", "assistant", "yes"),
    entry("3", "1", "assistant", "no"),
    { type: "model_change", id: "4", parentId: "3" },
    session("b"),
    entry("1", null, "user", "q"),
    entry("2", "1", "assistant", "perhaps"),
  ];
  const forked = readRollouts(records);
  assert.deepEqual(
    forked.tree(0).trajectories.map(({ text }) => text),
    ["yes", "no", "perhaps"],
  );
  const circle = [session("a"), entry("1", "2", "user", "q"), entry("2", "1", "assistant", "x")];
  assert.throws(() => readRollouts([...circle, entry("3", "2", "assistant", "y")], { broken: 0 }), /parentId must name an entry before it, got a circle/); // prettier-ignore
});

test("sessions and spans of many forks are read in their proportion, or refused", () => {
  const entry = (id: number, parentId: number, role: string) => ({
    ...{ type: "message", id: `${id}`, parentId: `${parentId}` },
    message: { role, content: "x" },
  });
  const chain = Array.from({ length: 20_000 }, (_, i) => entry(i, i - 1, i === 0 ? "user" : "assistant")); // prettier-ignore
  const fan = Array.from({ length: 20_000 }, (_, i) => entry(20_000 + i, 19_999, "assistant"));
  assert.throws(
    () => readRollouts([{ type: "session", version: 3, id: "a" }, ...chain, ...fan], { broken: 0 }),
    /the ways to a session's ends must have at most 1000000 entries/,
  );
  const text = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
  const messages = Array.from({ length: 200 }, (_, i) =>
    text(i % 2 ? "assistant" : "user", `${i}`),
  );
  const attribute = (key: string, value: unknown) => ({
    ...{ key, value: { stringValue: JSON.stringify(value) } },
  });
  const spans = Array.from({ length: 100 }, (_, i) => ({
    traceId: "t",
    attributes: [
      attribute("gen_ai.input.messages", messages.slice(0, 2 * i + 1)),
      attribute("gen_ai.output.messages", messages.slice(2 * i + 1, 2 * i + 2)),
    ],
  }));
  const other = { ...spans[3]!, traceId: "u" };
  const read = readRollouts([
    { resourceSpans: [{ scopeSpans: [{ spans: [...spans, other, spans[99]!] }] }] },
  ]);
  // The last call of one trace, twice, and the only one of the other.
  assert.equal(read.rows, 3);
});

test("importRollouts() reads slime's samples, and says of a pickle how to write them", async () => {
  const [imported, tree] = await one("slime");
  const [trajectory] = tree.trajectories;
  assert.deepEqual([...trajectory!.lossMask], [1, 1, 0, 1]);
  assert.deepEqual([...trajectory!.tokens], [5, 6, 7, 8]);
  assert.deepEqual(imported.prompts[0]!.scores, [1]);
  assert.equal(imported.prompts[0]!.step, 3);
  const pickle = join(temporaryFolder("slime"), "3.pt");
  writeFileSync(pickle, "PK");
  await assert.rejects(importRollouts(pickle), /must be JSON, got a pickle, which can run any program.*python -c/s); // prettier-ignore
  assert.equal(trajectory!.versions, undefined);
  const own = { tokens: [1, 2, 3], response_length: 2, prompt: "", response: "b c" };
  const { trees } = readRollouts([{ ...own, weight_versions: ["4", "3"] }]);
  // Which of them wrote which token is not said: the oldest counts.
  assert.deepEqual([...trees[0]!.trajectories[0]!.versions!], [3, 3]);
  const unnamed = readRollouts([{ ...own, weight_versions: ["default"] }]);
  assert.equal(unnamed.trees[0]!.trajectories[0]!.versions, undefined);
  const sample = { tokens: [1, 2], response_length: 5, prompt: "" };
  assert.throws(
    () => readRollouts([sample], { broken: 0 }),
    /response_length must be 0 to 2, got 5/,
  );
});

test("AReaL's dumps say how old their weights were, as far as they know", () => {
  const dumped = (head: number, completion: string) => ({
    ...{ task_id: 7, sample_idx: 0, seqlen: 9, prompt_len: 4, head_version: head },
    ...{ tail_version: 5, reward: 1, prompt: "6*7?", completion },
  });
  const read = readRollouts([dumped(3, "42"), dumped(-1, "It is 42")]);
  assert.equal(read.format, "areal");
  const [own, unknown] = read.trees.flatMap(({ trajectories }) => trajectories);
  assert.ok(own!.versions!.length > 0);
  assert.deepEqual([...new Set(own!.versions)], [3]);
  // The prompt was counted in: the newest is what is known.
  assert.deepEqual([...new Set(unknown!.versions)], [5]);
  assert.deepEqual(read.prompts[0]!.scores, [1, 1]);
  assert.equal(read.prompts[0]!.step, 5);
});

test("importRollouts() reads OpenTelemetry's spans: the last call of a chat is the trajectory", async () => {
  const [, tree] = await one("otel");
  assert.deepEqual(
    shape(tree).map((node) => node[2]),
    [call, "tool:\n42\n\nassistant:", "42"],
  );
  assert.deepEqual(shape(tree)[1]!.slice(3), result);
  for (const stringValue of ["[{", "[".repeat(1000) + "]".repeat(1000)]) {
    const span = { attributes: [{ key: "gen_ai.output.messages", value: { stringValue } }] };
    const record = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
    assert.throws(() => readRollouts([record], { broken: 0 }), /gen_ai\.output\.messages must be JSON, got "\[/); // prettier-ignore
  }
});

test("OpenTelemetry's spans of one chat are one trajectory, whatever records they stand in", () => {
  const said = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
  const span = (traceId: string, texts: readonly string[]) => {
    const all = texts.map((text, i) => said(i % 2 === 0 ? "user" : "assistant", text));
    const attribute = (name: string, value: unknown) => ({
      key: `gen_ai.${name}.messages`,
      value: { stringValue: JSON.stringify(value) },
    });
    const attributes = [attribute("input", all.slice(0, -1)), attribute("output", all.slice(-1))];
    return { traceId, attributes };
  };
  const spans = [
    span("a", ["1+1?", "2"]),
    span("b", ["1+1?", "2"]),
    span("a", ["1+1?", "2", "sure?", "yes"]),
    span("c", ["1+1?", "3"]),
  ];
  for (const order of [spans, [...spans].reverse()]) {
    const records = order.map((one) => ({ resourceSpans: [{ scopeSpans: [{ spans: [one] }] }] }));
    const read = readRollouts(records);
    assert.equal(read.files[0]!.rows, 3);
    const texts = read.tree(0).trajectories.map(({ text }) => text);
    assert.deepEqual(texts.sort(), ["2", "2\n\nuser:\nsure?\n\nassistant:\nyes", "3"]);
  }
});

test("an answer in a chat that no call gave is not the model's: a client put it there", () => {
  const text = (role: string, content: string) => ({ role, content });
  const history = [text("user", "1+1?"), text("assistant", "2"), text("user", "so?")];
  const own = [...history, text("assistant", "GIVEN"), text("user", "sure?")];
  const block = (messages: readonly object[], said: string) => ({
    request: { messages },
    response: { content: [{ type: "text", text: said }] },
  });
  const span = (asked: readonly { role: string; content: string }[], said: string) => {
    const parts = ({ role, content }: { role: string; content: string }) => {
      return { role, parts: [{ type: "text", content }] };
    };
    const attribute = (name: string, value: unknown) => ({
      key: `gen_ai.${name}.messages`,
      value: { stringValue: JSON.stringify(value) },
    });
    const output = [parts(text("assistant", said))];
    const attributes = [attribute("input", asked.map(parts)), attribute("output", output)];
    const spans = [{ traceId: "a", attributes }];
    return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
  };
  for (const call of [block, span]) {
    const tree = readRollouts([call(history.slice(0, 1), "2"), call(own, "yes")]).tree(0);
    assert.equal(tree.trajectories[0]!.text, "yes");
    assert.match(tree.prompt.text, /GIVEN[^]*sure\?/);
    // Behind it, what calls gave is the model's again.
    const more = [...own, text("assistant", "yes"), text("user", "really?")];
    const longer = readRollouts([call(own, "yes"), call(more, "really")]).tree(0);
    assert.match(longer.trajectories[0]!.text, /^yes[^]*really\?[^]*really$/);
    assert.match(longer.prompt.text, /GIVEN/);
  }
});

test("logs: the calls of one chat are one trajectory, also where ids stand for what was said", () => {
  const user = (content: string) => ({ role: "user", content });
  const said = [
    { type: "thinking", thinking: "I add.", signature: "s" },
    { type: "tool_use", id: "t1", name: "add", input: { a: 20, b: 22 } },
  ];
  const answered = { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "42" }] }; // prettier-ignore
  const message = (id: string, content: unknown) => ({ response: { id, content, model: "m" } });
  const first = { request: { system: "Be short.", messages: [user("20+22?")] }, ...message("m1", said) }; // prettier-ignore
  const last = { ...message("m2", [{ type: "text", text: "It is 42." }]), reward: 1 };
  const history = [user("20+22?"), { role: "assistant", content: said }, answered];
  const thread = { type: "continue", previous_message_id: "m1" };
  const items = [
    { id: "rs1", type: "reasoning", summary: [{ type: "summary_text", text: "I add." }] },
    ...[
      {
        id: "fc1",
        type: "function_call",
        call_id: "t1",
        name: "add",
        arguments: '{"a":20,"b":22}',
      },
    ],
  ];
  const output = [{ id: "x", type: "message", role: "assistant", content: [{ type: "output_text", text: "It is 42." }] }]; // prettier-ignore
  const result = { type: "function_call_output", call_id: "t1", output: "42" };
  const instructions = "Be short.";
  const begun = {
    request: { instructions, input: "20+22?" },
    response: { id: "r1", output: items },
  };
  const ended = { response: { id: "r2", output }, reward: 1 };
  const references = items.map(({ id }) => ({ type: "item_reference", id }));
  const logs = [
    [first, { request: { system: "Be short.", messages: history }, ...last }],
    [first, { request: { thread, messages: [answered] }, ...last }],
    [begun, { request: { instructions, previous_response_id: "r1", input: [result] }, ...ended }],
    [
      begun,
      { request: { instructions, input: [user("20+22?"), ...references, result] }, ...ended },
    ],
  ];
  for (const log of logs) {
    const read = readRollouts(log);
    assert.equal(read.files[0]!.rows, 1);
    assert.deepEqual(read.prompts[0]!.scores, [1]);
    const { prompt, trajectories } = read.tree(0);
    assert.doesNotMatch(prompt.text, /add/);
    assert.match(trajectories[0]!.text, /^<think>\nI add\.[^]*"a":20[^]*\n42\n[^]*It is 42\.$/);
    // A log that has lost its beginning says so.
    if (log !== logs[0]) {
      assert.throws(() => readRollouts(log.slice(1), { broken: 0 }), /must name an? (item of a )?response before it in the file, got "/); // prettier-ignore
    }
  }
});

test("logs of Messages and Responses keep their calls, results and thoughts", () => {
  const input = { a: 20, b: 22 };
  const messages = readRollouts([
    {
      request: {
        system: [{ type: "text", text: "Be short." }],
        messages: [
          { role: "user", content: "20+22?" },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "add", input }] },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "42" }] },
              { type: "text", text: "Well?" },
            ],
          },
        ],
      },
      response: {
        content: [
          { type: "thinking", thinking: "done" },
          { type: "text", text: "42" },
        ],
        stop_reason: "end_turn",
        model: "m",
      },
      reward: 1,
    },
  ]);
  const tree = messages.tree(0);
  assert.match(tree.prompt.text, /Be short\.[^]*20\+22\?[^]*"add"[^]*42[^]*Well\?/);
  assert.equal(tree.trajectories[0]!.text, "<think>\ndone\n</think>\n\n42");
  assert.deepEqual(messages.prompts[0]!.scores, [1]);

  const responses = readRollouts([
    {
      request: { instructions: "Be short.", input: "20+22?" },
      response: {
        status: "completed",
        output: [
          { type: "reasoning", summary: [{ type: "summary_text", text: "I add." }] },
          { type: "function_call", call_id: "c1", name: "add", arguments: JSON.stringify(input) },
        ],
      },
    },
  ]);
  assert.equal(responses.tree(0).trajectories[0]!.text, `<think>\nI add.\n</think>\n\n\n${call}`);
  assert.match(responses.tree(0).prompt.text, /Be short\.[^]*20\+22\?/);
});
