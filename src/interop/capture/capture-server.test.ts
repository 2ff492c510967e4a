import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../tests/until.js";
import { advantages } from "../../learn/advantages.js";
import { score } from "../../reward/score-trees.js";
import { treesFromJsonl, treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { capture } from "./capture-server.js";
import { ask, assistant, scriptedCapture, user } from "../../../tests/capture/scripted-capture.js";

const calc = {
  type: "function",
  function: { name: "calc", parameters: { type: "object", properties: { sum: {} } } },
};

test("a program's calls become one row: its ids are those of the last call, what the model wrote trains once", async (t) => {
  const lines: string[] = [];
  const { server, tokenizer } = await scriptedCapture(
    t,
    {
      "<u>2+2?<e><a>": "<calc>2+2</calc>",
      "<u>2+2?<e><a><calc>2+2</calc> <result>\n4\n</result>": "four<e>",
    },
    { log: (line) => lines.push(line) },
  );
  const session = server.session({ task: { id: "sum" } });
  const first = await ask(session, [user("2+2?")], { more: { tools: [calc] } });
  const { message } = first.json!.choices[0]!;
  assert.equal(message.tool_calls![0]!.function.name, "calc");
  const result = { role: "tool", tool_call_id: message.tool_calls![0]!.id, content: "4" };
  const told = { ...message, content: message.content ?? "" };
  const second = await ask(session, [user("2+2?"), told, result], {
    stream: true,
    more: { tools: [calc] },
  });
  assert.match(second.text, /"content":"f"/);
  const { calls, trees } = await server.end(session, { score: 1, reason: "right" });
  assert.deepEqual(
    calls.map(({ parent, rewrite, retriedBy }) => [parent, rewrite, retriedBy]),
    [
      [-1, undefined, undefined],
      [0, undefined, undefined],
    ],
  );
  const [tree] = trees;
  assert.deepEqual(
    tree!.nodes.map(({ kind, text }) => [kind, text]),
    [
      ["model", "<calc>2+2</calc>"],
      ["tool", " <result>\n4\n</result>"],
      ["model", "four"],
    ],
  );
  const { tool } = tree!.nodes[1]!;
  assert.deepEqual([tool!.tag, tool!.input, tool!.text], ["calc", '{"sum":"2+2"}', "4"]);
  const [trajectory] = tree!.trajectories;
  const whole = [...calls[1]!.prompt, ...calls[1]!.tokens];
  assert.deepEqual([...trajectory!.prompt, ...trajectory!.tokens], whole);
  const trained = trajectory!.lossMask.reduce((sum, one) => sum + one, 0);
  assert.equal(trained, calls[0]!.tokens.length + calls[1]!.tokens.length);
  assert.ok(trajectory!.lossMask.every((own, i) => own === 0 || trajectory!.entropies[i]! > 0));
  assert.equal(trajectory!.end, "answer");
  assert.equal((await score(tree!)).mean, 1);
  assert.equal(treesFromJsonl(treesToJsonl(trees))[0]!.trajectories[0]!.outcome?.reason, "right");
  const kept = [treesToJsonl(trees), JSON.stringify(session.summary()), ...lines].join("\n");
  assert.ok(!kept.includes(session.key), "the key is nowhere");
  assert.ok(tokenizer.decode(trajectory!.tokens).includes("four"));
});

test("a history that the program rewrote forks where it departs, and says why", async (t) => {
  const { server } = await scriptedCapture(t, {
    "<u>hi<e><a>": "<think>x</think>yes<e>",
    "<u>hi<e><a><think>y</think>yes<e><u>more<e><a>": "done<e>",
  });
  const session = server.session();
  await ask(session, [user("hi")]);
  await ask(session, [user("hi"), assistant("<think>y</think>yes"), user("more")]);
  const { calls, trees } = await server.end(session, 1);
  const { rewrite } = calls[1]!;
  assert.deepEqual(
    [rewrite!.of, rewrite!.recorded, rewrite!.sent.slice(0, 12)],
    [0, "x</think>yes<e>", "y</think>yes"],
  );
  assert.equal(trees.length, 1);
  const trajectories = trees[0]!.trajectories;
  assert.deepEqual(
    trajectories.map(({ text, kind }) => [kind, text]),
    [
      ["initial", "<think>x</think>yes"],
      ["branch", "<think>y</think>yesmoredone"],
    ],
  );
  // Behind the change only what the model wrote trains.
  const own = [...trajectories[1]!.tokens].filter((_, i) => trajectories[1]!.lossMask[i] === 1);
  assert.equal(own.length, "<think>".length + "done".length + 1);
});

test("the same prompt again is a retry: the answer that is continued stays", async (t) => {
  const { server } = await scriptedCapture(t, {
    "<u>hi<e><a>": ["one<e>", "two<e>"],
    "<u>hi<e><a>one<e><u>go<e><a>": "on<e>",
    "<u>hi<e><a>two<e><u>go<e><a>": "on<e>",
  });
  const session = server.session();
  const answers: string[] = [];
  while (new Set(answers).size < 2) {
    const { json } = await ask(session, [user("hi")]);
    answers.push(json!.choices[0]!.message.content!);
  }
  await ask(session, [user("hi"), assistant(answers[0]!), user("go")]);
  const { calls, trees } = await server.end(session, 1);
  const last = calls.at(-1)!;
  const kept = calls.filter(({ retriedBy }) => retriedBy === undefined);
  assert.deepEqual(
    kept.map(({ id }) => id),
    [last.parent, last.id],
  );
  assert.deepEqual(
    trees[0]!.trajectories.map(({ text }) => text),
    [`${answers[0]!}goon`],
  );
});

test("samples of one prompt, one after another, are rows of their own, unless the client says that it asks again", async (t) => {
  const { server } = await scriptedCapture(t, { "<u>hi<e><a>": ["one<e>", "two<e>"] });
  const session = server.session();
  for (let i = 0; i < 3; i++) await ask(session, [user("hi")]);
  const { calls, trees } = await server.end(session, 1);
  assert.deepEqual(
    calls.map(({ retriedBy }) => retriedBy),
    [undefined, undefined, undefined],
  );
  assert.equal(trees[0]!.trajectories.length, 3);
  assert.equal(server.retries, 0);
  const again = server.session();
  await ask(again, [user("hi")]);
  await ask(again, [user("hi")], { headers: { "x-stainless-retry-count": "0" } });
  await ask(again, [user("hi")], { headers: { "x-stainless-retry-count": "1" } });
  const second = await server.end(again, 1);
  assert.deepEqual(
    second.calls.map(({ retriedBy }) => retriedBy),
    [undefined, 2, undefined],
  );
  assert.equal(second.trees[0]!.trajectories.length, 2);
  assert.equal(server.retries, 1);
});

test("an answer that comes back with other white space is continued; one with other words is a change", async (t) => {
  const { server, tokenizer } = await scriptedCapture(t, {
    "<u>hi<e><a>": " one  two \n<e>",
    "<u>hi<e><a>one two<e><u>go<e><a>": "on<e>",
    "<u>hi<e><a>one, two<e><u>go<e><a>": "no<e>",
  });
  /** A session whose first answer has the white space: the script's other texts begin alike. */
  const begun = async () => {
    for (let seed = 0; ; seed++) {
      const made = server.session({ seed });
      const { json } = await ask(made, [user("hi")]);
      if (json!.choices[0]!.message.content!.startsWith(" ")) return made;
    }
  };
  const session = await begun();
  await ask(session, [user("hi"), assistant("one two"), user("go")]);
  const { calls, trees } = await server.end(session, 1);
  assert.deepEqual(
    calls.map(({ parent, rewrite }) => [parent, rewrite]),
    [
      [-1, undefined],
      [0, undefined],
    ],
  );
  assert.deepEqual(
    trees[0]!.trajectories.map(({ text }) => text),
    [" one  two \ngoon"],
  );
  // The answer stands as it was sampled, and all of it trains.
  const [trajectory] = trees[0]!.trajectories;
  const trained = trajectory!.lossMask.reduce((sum, one) => sum + one, 0);
  assert.equal(trained, tokenizer.encode(" one  two \n<e>on<e>").length);
  const other = await begun();
  await ask(other, [user("hi"), assistant("one, two"), user("go")]);
  const changed = await server.end(other, 1);
  assert.ok(changed.calls[1]!.rewrite);
});

test("parallel answers to one prompt, choices of one request, and another agent's prompt are rows of their own", async (t) => {
  const { server } = await scriptedCapture(
    t,
    { "<u>hi<e><a>": ["one<e>", "two<e>"], "<u>title<e><a>": "Talk<e>" },
    { delayMs: 2 },
  );
  const session = server.session();
  await Promise.all([
    ask(session, [user("hi")]),
    ask(session, [user("hi")]),
    ask(session, [user("hi")], { more: { n: 2 } }),
    ask(session, [user("title")]),
  ]);
  const { calls, trees } = await server.end(session, 1);
  assert.equal(calls.length, 5);
  const sizes = trees.map(({ trajectories }) => trajectories.length).sort();
  assert.deepEqual(sizes, [1, 4]);
});

test("a client that hangs up: what it was told stays, unless it asked again", async (t) => {
  const { server } = await scriptedCapture(
    t,
    { "<u>hi<e><a>": "abcdefghijklmnop<e>" },
    { delayMs: 20 },
  );
  const cut = async (session: ReturnType<typeof server.session>) => {
    const gone = new AbortController();
    const asked = ask(session, [user("hi")], { stream: true, signal: gone.signal });
    await until(() => session.busy, "the call is under way");
    setTimeout(() => gone.abort(), 100);
    await assert.rejects(asked);
    await until(() => !session.busy, "the server has noticed");
  };
  const session = server.session();
  await cut(session);
  await ask(session, [user("hi")]);
  const { calls, trees } = await server.end(session, 1);
  assert.match(calls[0]!.cut!, /hung up/);
  assert.equal(calls[0]!.retriedBy, 1);
  assert.deepEqual(
    trees[0]!.trajectories.map(({ text }) => text),
    ["abcdefghijklmnop"],
  );
  const alone = server.session();
  await cut(alone);
  const lone = await server.end(alone, 0);
  assert.equal(lone.trees[0]!.trajectories[0]!.end, "length");
});

test("sessions of a group are rows of one tree, with their rewards; the same seed gives the same answers", async (t) => {
  const script = { "<u>hi<e><a>": ["one<e>", "two<e>", "six<e>"] };
  const { server } = await scriptedCapture(t, script);
  const rewards: number[] = [];
  const texts: string[] = [];
  for (let run = 0; run < 6; run++) {
    const session = server.session({ group: "g", seed: run % 3 });
    const { json } = await ask(session, [user("hi")]);
    texts.push(json!.choices[0]!.message.content!);
    rewards.push(run % 2);
    await server.end(session, run % 2);
  }
  assert.deepEqual(texts.slice(0, 3), texts.slice(3));
  const [tree, ...others] = server.trees("g");
  assert.equal(others.length, 0);
  const scored = await score(tree!);
  assert.deepEqual(
    scored.trajectories.map((trajectory) => trajectory.score.score),
    rewards,
  );
  const batch = advantages(scored, { estimator: "grpo" });
  assert.equal(batch.trajectories.length, 6);
});

test("a reward function judges the session's last row", async (t) => {
  const { server } = await scriptedCapture(t, { "<u>hi<e><a>": "one<e>" });
  const session = server.session({ task: { id: "t" } });
  await ask(session, [user("hi")]);
  const { reward, trees } = await server.end(session, ({ response }) => Number(response === "one"));
  assert.equal(reward!.score, 1);
  assert.equal(trees[0]!.trajectories[0]!.outcome!.score, 1);
  const idle = await server.end(server.session(), () => 1);
  assert.deepEqual([idle.reward!.score, idle.trees.length], [0, 0]);
});

test("limits are kept and named; no key leaves the server", async (t) => {
  const lines: string[] = [];
  const options = {
    maxCalls: 1,
    maxSessions: 3,
    idleMs: 60_000,
    log: (line: string) => lines.push(line),
  };
  const { server, policy } = await scriptedCapture(t, { "<u>hi<e><a>": "one<e>" }, options);
  const says = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      ...init,
      headers: { "content-type": "application/json", ...init.headers },
    });
    return `${response.status} ${await response.text()}`;
  };
  const session = server.session();
  await ask(session, [user("hi")]);
  assert.match((await ask(session, [user("hi")])).text, /may make 1 calls.*larger maxCalls/);
  const body = JSON.stringify({ model: "x", messages: [user("hi")] });
  const post = { method: "POST", body };
  assert.match(await says("/v1/chat/completions", post), /401.*POST \/sessions gives one/);
  const wrong = { ...post, headers: { authorization: "Bearer sk-other-key" } };
  const refused = await says("/v1/chat/completions", wrong);
  assert.match(refused, /401.*belongs to no session/);
  assert.ok(!refused.includes("sk-other-key"));
  const keyed = `/s/${session.key}`;
  assert.match(await says(`${keyed}/v1/completions`, post), /404.*send a chat/);
  await server.end(session, 1);
  assert.match(await says(`${keyed}/v1/chat/completions`, post), /400.*no more calls: its reward/);
  // However an address is written wrong, the log shows no key.
  for (const path of [
    `/${keyed}/v1/x`,
    `/S/${session.key}/v1/x`,
    `/v1/models/${session.key}`,
    "/s/%ff/v1/x",
  ])
    assert.match(await says(path, post), /^401/);
  const idle = server.session();
  idle.touched -= 100_000;
  assert.match((await ask(idle, [user("hi")])).text, /asked nothing for 60000 ms/);
  server.session();
  assert.throws(() => server.session(), /at most 3 are kept/);
  assert.match(await says("/sessions", { method: "POST", body: "{}" }), /400.*at most 3/);
  server.delete(idle);
  server.session();
  assert.ok(lines.length > 4 && !lines.some((line) => line.includes("sk-")), lines.join("\n"));
  await assert.rejects(capture(policy, { host: "0.0.0.0" }), /a key is needed/);
  await assert.rejects(server.end(idle, NaN), /reward must be a finite number.*got NaN/);
});

test("other languages begin, end and read sessions over HTTP, with a key of their own", async (t) => {
  process.env["CAPTURE_TEST_KEY"] = "admin";
  t.after(() => delete process.env["CAPTURE_TEST_KEY"]);
  const { server } = await scriptedCapture(
    t,
    { "<u>hi<e><a>": "one<e>" },
    { adminKeyEnv: "CAPTURE_TEST_KEY" },
  );
  const call = async (method: string, path: string, body?: object, key = "admin") => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, text: await response.text() };
  };
  const made = await call("POST", "/sessions", { task: { id: "t" } });
  const { id, key, env } = JSON.parse(made.text) as {
    id: string;
    key: string;
    env: Record<string, string>;
  };
  assert.equal((await call("POST", `/sessions/${id}/reward`, { score: 1 }, key)).status, 401);
  assert.equal((await ask({ key, env }, [user("hi")])).status, 200);
  assert.match((await call("GET", `/sessions/${id}/tree`)).text, /has not ended/);
  assert.match(
    (await call("POST", `/sessions/${id}/reward`, { score: "x" })).text,
    /finite number/,
  );
  assert.equal(
    (await call("POST", `/sessions/${id}/reward`, { score: 0.5, reason: "r" })).status,
    200,
  );
  const tree = treesFromJsonl((await call("GET", `/sessions/${id}/tree`)).text)[0]!;
  assert.equal(tree.trajectories[0]!.outcome!.score, 0.5);
  const record = JSON.parse((await call("GET", `/sessions/${id}/rollout`)).text) as {
    sequences: { input_ids: number[]; loss_mask: number[]; n_trainable: number }[];
  };
  const [sequence] = record.sequences;
  const [trajectory] = tree.trajectories;
  assert.deepEqual(sequence!.input_ids, [...trajectory!.prompt, ...trajectory!.tokens]);
  assert.equal(sequence!.n_trainable, trajectory!.tokens.length);
  const listed = await call("GET", "/sessions");
  assert.ok(listed.text.includes('"id":"s0"') && !listed.text.includes(key));
  assert.equal(treesFromJsonl((await call("GET", "/trees")).text).length, 1);
  assert.equal((await call("DELETE", `/sessions/${id}`)).status, 200);
  assert.equal((await call("GET", `/sessions/${id}`)).status, 404);
});
