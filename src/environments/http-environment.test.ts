import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { rollout } from "../rollout/rollout.js";
import { treesToJsonl } from "../rollout/files/tree-jsonl.js";
import { ScriptedPolicy } from "../rollout/testing/scripted-policy.js";
import { score } from "../reward/score-trees.js";
import { ToolSet } from "../tools/tool-set.js";
import { httpEnvironment, type HttpEnvironmentOptions } from "./http-environment.js";

/** A lock of three turns, acted out by a server; `fault` answers in its place. */
async function lockServer(
  t: TestContext,
  fault?: (request: IncomingMessage, answer: ServerResponse) => boolean,
) {
  const sessions = new Map<string, number>();
  const state = {
    opened: 0,
    closed: 0,
    seeds: [] as number[],
    tokens: [] as (string | undefined)[],
  };
  const server = createServer((request, response) => {
    state.tokens.push(request.headers.authorization);
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      if (fault?.(request, response)) return;
      const {
        session = "",
        seed,
        action,
      } = JSON.parse(text) as {
        session?: string;
        seed: number;
        action: { tool: string; input: string };
      };
      const say = (value: unknown) => response.end(JSON.stringify(value));
      if (request.url === "/reset") {
        const name = `s${state.opened++}`;
        sessions.set(name, 0);
        state.seeds.push(seed);
        return say({ session: name, observation: { text: "A lock of three turns." } });
      }
      if (!sessions.has(session)) return response.writeHead(404).end();
      if (request.url === "/close") {
        state.closed++;
        sessions.delete(session);
        return say({});
      }
      const turns = sessions.get(session)! + (action.input === "left" ? 1 : 0);
      sessions.set(session, turns);
      return say({
        observation: `${turns} of 3`,
        reward: action.input === "left" ? 1 : -1,
        done: turns === 3,
      });
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, state, sessions };
}

const tools = { turn: "Turns the key: left or right." };
const turner = () =>
  new ScriptedPolicy(({ options: { random } }) => {
    const way = random.uniform() < 0.7 ? "left" : "right";
    return { text: `<turn>${way}</turn>`, confidence: 0.3 + 0.7 * random.uniform() };
  });
const options = {
  n: 8,
  initialRollouts: 2,
  beamSize: 3,
  branchProbability: 1,
  seed: 2,
  callLimit: 5,
};

test("httpEnvironment() acts on a server: branches have sessions of their own, all are closed", async (t) => {
  const { url, state, sessions } = await lockServer(t);
  const environment = httpEnvironment(url, { tools, name: "lock" });
  const tasks = [
    { prompt: "Open it.", raw: true, id: "a" },
    { prompt: "Open it now.", raw: true, id: "b" },
  ];
  const trees = await rollout(turner(), tasks, { ...options, environment });
  assert.ok(trees.some(({ trajectories: rows }) => rows.some(({ kind }) => kind === "branch")));
  for (const tree of trees) {
    assert.ok(tree.prompt.text.endsWith("\nA lock of three turns."));
    assert.equal(tree.environment!.name, "lock");
    for (const { toolCalls, end } of tree.selected) {
      let turns = 0;
      for (const { input, text } of toolCalls) {
        if (input === "left") turns++;
        assert.equal(text, `${turns} of 3`);
      }
      assert.equal(end === "done", turns === 3);
    }
  }
  assert.deepEqual([state.closed, sessions.size], [state.opened, 0]);
  assert.equal(new Set(state.seeds).size, 2, "one seed a tree");
  const { trajectories: rows } = await score(trees);
  const [first] = rows;
  const earned = first!.trajectory.toolCalls.reduce((sum, { reward = 0 }) => sum + reward, 0);
  assert.equal(first!.score.score, earned);
  const again = await rollout(turner(), tasks, { ...options, environment });
  const bytes = (list: typeof trees) => treesToJsonl(list, { timing: false });
  assert.equal(bytes(again), bytes(trees));
});

test("httpEnvironment() takes its token from the environment variable alone", async (t) => {
  const { url, state } = await lockServer(t);
  const environment = httpEnvironment(url, { tools, tokenEnv: "ARPO_TEST_LOCK_TOKEN" });
  const go = () => rollout(turner(), { prompt: "q", raw: true }, { environment });
  await assert.rejects(go(), /variable ARPO_TEST_LOCK_TOKEN must hold a token, got none/);
  process.env["ARPO_TEST_LOCK_TOKEN"] = "s3cret";
  t.after(() => delete process.env["ARPO_TEST_LOCK_TOKEN"]);
  const tree = await go();
  assert.ok(state.tokens.every((token) => token === "Bearer s3cret"));
  assert.ok(!treesToJsonl([tree]).includes("s3cret"));
});

const onStep =
  (answer: (response: ServerResponse) => void) =>
  ({ url }: IncomingMessage, response: ServerResponse) => {
    if (url !== "/step") return false;
    answer(response);
    return true;
  };

test("httpEnvironment() names what a server does wrong, and asks once", async (t) => {
  const cases: [(response: ServerResponse) => void, RegExp, Partial<HttpEnvironmentOptions>?][] = [
    [(r) => r.writeHead(500).end(), /Cannot step the environment: .*status 200, got 500/],
    [(r) => r.writeHead(307, { location: "/elsewhere" }).end(), /status 200, got 307/],
    [(r) => r.end("no JSON"), /must answer with JSON/],
    [(r) => r.end("[1]"), /must answer with an object, got a list/],
    [
      (r) => r.end(JSON.stringify({ observation: "x".repeat(5000) })),
      /at most 1000 bytes/,
      { maxBytes: 1000 },
    ],
    [() => undefined, /must answer, got nothing in time/, { timeoutMs: 1500 }],
    [
      (r) => r.end(JSON.stringify({ observation: "x", reward: "much" })),
      /reward must be a finite number, got NaN/,
    ],
  ];
  for (const [answer, message, more] of cases) {
    let asked = 0;
    const { url } = await lockServer(
      t,
      onStep((response) => {
        asked++;
        answer(response);
      }),
    );
    const environment = httpEnvironment(url, { tools, ...more });
    const tree = await rollout(turner(), { prompt: "q", raw: true }, { environment, callLimit: 1 });
    const [call] = tree.selected[0]!.toolCalls;
    assert.match(call!.failure!.message, message);
    assert.equal(asked, 1);
  }
  const down = await lockServer(t, (_, response) => !!response.writeHead(503).end());
  await assert.rejects(
    rollout(
      turner(),
      { prompt: "q", raw: true, id: "x" },
      { environment: httpEnvironment(down.url, { tools, name: "lock" }) },
    ),
    /Cannot reset environment lock for task x: Cannot reset the environment: .*got 503/,
  );
});

test("a server without sessions is refused: its steps would not remember each other", async (t) => {
  // As OpenEnv answers over HTTP: each request acts in an environment of its own.
  const { url, state } = await lockServer(
    t,
    (_, answer) => !!answer.end(JSON.stringify({ observation: {}, reward: 0, done: false })),
  );
  await assert.rejects(
    rollout(turner(), { prompt: "q", raw: true }, { environment: httpEnvironment(url, { tools }) }),
    /Cannot reset the environment: http:\S+ must answer with a session or an episode_id, got neither/,
  );
  assert.equal(state.tokens.length, 1, "nothing is asked of it after the reset");
});

test("a server that never answers is left when the rollout's time for a call is over", async (t) => {
  const { url } = await lockServer(
    t,
    onStep(() => undefined),
  );
  const tree = await rollout(
    turner(),
    { prompt: "q", raw: true },
    {
      environment: httpEnvironment(url, { tools }),
      callLimit: 1,
      tools: new ToolSet([], { timeoutMs: 1500 }),
    },
  );
  assert.equal(tree.selected[0]!.toolCalls[0]!.failure!.kind, "timeout");
  assert.match(tree.trajectories[0]!.outcome!.failure!, /no answer within 1\.5 s/);
});

test("wrong options are refused", () => {
  const make = (url: string, more: object) => () => httpEnvironment(url, { tools, ...more });
  assert.throws(
    make("ftp://x/?key=1", {}),
    /url must be an http or https address, got "ftp:\/\/x\/"/,
  );
  assert.throws(make("http://x", { timeoutMs: 0 }), /timeoutMs must be a positive integer/);
  assert.throws(make("http://x", { tokenEnv: 5 }), /tokenEnv must be text, got 5/);
});
