import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  callTool,
  echo,
  echoTools,
  type FakeOptions,
  forgetful,
  openEnvServer,
  walk,
} from "../../../tests/environment/open-env-server.js";
import { treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import type { RolloutOptions } from "../../rollout/options.js";
import { rollout } from "../../rollout/rollout.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { checkOpenEnv } from "./check.js";
import { openEnv } from "./open-env.js";
import type { OpenEnvOptions } from "./options.js";

const walker = () =>
  new ScriptedPolicy(({ options: { random } }) => {
    const way = ["LEFT", "RIGHT", "RIGHT", "UP"][random.integer(4)]!;
    return { text: `<act>${way}</act>`, confidence: 0.3 + 0.7 * random.uniform() };
  });
const options: RolloutOptions = {
  ...{ n: 8, initialRollouts: 3, beamSize: 3, branchProbability: 0.9, seed: 2, callLimit: 5 },
};
const tasks = [
  { prompt: "Go.", raw: true, id: "a" },
  { prompt: "Go on.", raw: true, id: "b" },
];
const bytes = (trees: readonly RolloutTree[]) => treesToJsonl(trees, { timing: false });
const branches = (trees: readonly RolloutTree[]) =>
  trees.flatMap(({ trajectories }) => trajectories).filter(({ kind }) => kind === "branch").length;

/** Grows the trees in a server's environment. */
async function grow(
  t: TestContext,
  fake: Partial<FakeOptions>,
  more: OpenEnvOptions = {},
  own: RolloutOptions = {},
) {
  const { url, seen } = await openEnvServer(t, { world: walk, ...fake });
  const environment = openEnv(url, { name: "walk", ...more });
  const trees = await rollout(walker(), tasks, { ...options, ...own, environment });
  return { trees, seen };
}

test("trees of a server with one session are those of one with eight, byte for byte", async (t) => {
  const eight = await grow(t, { capacity: 8 });
  assert.ok(branches(eight.trees) > 3, "trajectories branch");
  assert.ok(eight.seen.most > 1 && eight.seen.most <= 8, `${eight.seen.most} sessions at once`);
  for (const { prompt, selected, environment } of eight.trees) {
    assert.match(prompt.text, /\nYou stand at \d\.$/);
    assert.deepEqual(environment!.tools, ["act"]);
    const [at] = /\d(?=\.$)/.exec(prompt.text)!;
    for (const { toolCalls, end } of selected) {
      let [place, steps] = [Number(at), 0];
      for (const { input, text, reward, ok } of toolCalls) {
        assert.ok(ok);
        if (input === "UP") {
          assert.equal(text, "Error: action: Input should be 'LEFT' or 'RIGHT'");
          continue;
        }
        place += input === "LEFT" ? -1 : 1;
        assert.equal(text, `${++steps}: now at ${place}.`);
        assert.equal(reward, place === 5 ? 1 : -0.1);
      }
      assert.equal(end === "done", place === 5);
    }
  }
  const one = await grow(t, { capacity: 1 });
  assert.equal(one.seen.most, 1);
  assert.ok(
    one.seen.full < 10,
    `refused ${one.seen.full} times: who is full is not asked in a loop`,
  );
  assert.equal(bytes(one.trees), bytes(eight.trees));
  assert.ok(!bytes(eight.trees).includes("STATE-SECRET"), "a state is never kept");
});

test("trajectories that wait for each other give the one session to each other", async (t) => {
  const own: RolloutOptions = { scheduling: "lockstep", n: 3, initialRollouts: 2, callLimit: 2 };
  const eight = await grow(t, { capacity: 8 }, {}, own);
  const one = await grow(t, { capacity: 1 }, {}, own);
  assert.ok(
    one.seen.sessions > eight.seen.sessions,
    "sessions were taken from trajectories that wait",
  );
  assert.equal(bytes(one.trees), bytes(eight.trees));
});

test("the tools of an MCP environment are found, and called by name", async (t) => {
  const fake = { world: echo, action: callTool, tools: echoTools, capacity: 4 };
  const { url } = await openEnvServer(t, fake);
  const texts = ["<echo_message>hi</echo_message>", '<echo_message>{"message": 5}</echo_message>'];
  const policy = new ScriptedPolicy(({ turn }) => ({ text: texts[turn] ?? "\u0001" }));
  const tree = await rollout(
    policy,
    { prompt: "q", raw: true },
    { n: 1, environment: openEnv(url) },
  );
  assert.equal(tree.prompt.text, "q\nEcho is ready.");
  assert.deepEqual(
    tree.selected[0]!.toolCalls.map(({ text, reward }) => [text, reward]),
    [
      ["hi", undefined],
      ["5", undefined],
    ],
  );
  const wrong = openEnv(url, {
    tools: { say: "Says." },
    action: () => ({ type: "call_tool", tool_name: "none", arguments: {} }),
  });
  const say = new ScriptedPolicy(({ turn }) => ({ text: turn === 0 ? "<say>x</say>" : "\u0001" }));
  const other = await rollout(say, { prompt: "q", raw: true }, { n: 1, environment: wrong });
  assert.equal(other.selected[0]!.toolCalls[0]!.text, "Error: Unknown tool: 'none'");
});

test("where a replay differs trajectories stop branching, all of them are kept, and it is said once", async (t) => {
  const said = t.mock.method(process.stderr, "write", () => true);
  const { url } = await openEnvServer(t, { world: forgetful, capacity: 8 });
  const environment = openEnv(url);
  const first = await rollout(walker(), tasks, { ...options, environment });
  const second = await rollout(walker(), tasks, { ...options, environment });
  said.mock.restore();
  for (const trees of [first, second]) {
    assert.equal(branches(trees), 0);
    for (const { trajectories } of trees) {
      assert.equal(trajectories.length, 8);
      assert.ok(trajectories.every(({ outcome }) => !outcome?.failure));
    }
  }
  const notes = said.mock.calls.map(({ arguments: [line] }) => String(line));
  assert.equal(notes.filter((line) => line.includes("this environment cannot branch")).length, 1);
  assert.match(notes.join(""), /call 1 of http\S+ must answer as before, .*, got /);
  const none = await grow(t, { capacity: 1 }, { branch: "none" });
  assert.equal(branches(none.trees), 0);
});

test("every code of a server is told in plain words; the session ends where the server ends it", async (t) => {
  const cases: [string, RegExp][] = [
    ["INVALID_JSON", /answered INVALID_JSON, the server read no JSON/],
    ["UNKNOWN_TYPE", /another version of OpenEnv/],
    ["EXECUTION_ERROR", /the environment failed while it acted: boom/],
    ["CAPACITY_REACHED", /all its sessions are in use/],
    ["FACTORY_ERROR", /could not make an environment/],
    ["SESSION_ERROR", /the server ended the session/],
    ["ODD", /answered ODD, a code that OpenEnv does not have/],
  ];
  for (const [code, message] of cases) {
    const { trees } = await grow(
      t,
      {
        capacity: 2,
        fault: (socket, { type }) => {
          if (type !== "step") return false;
          socket.send(JSON.stringify({ type: "error", data: { message: "boom", code } }));
          return true;
        },
      },
      {},
      { n: 1, initialRollouts: 1, callLimit: 1 },
    );
    assert.match(trees[0]!.selected[0]!.toolCalls[0]!.failure!.message, message);
  }
});

test("what hangs, floods, lies or goes away is named with the server", async (t) => {
  type Fault = NonNullable<FakeOptions["fault"]>;
  const onStep =
    (does: (socket: Parameters<Fault>[0]) => unknown): Fault =>
    (socket, { type }) => {
      if (type !== "step") return false;
      does(socket);
      return true;
    };
  const cases: [Fault, RegExp, OpenEnvOptions?][] = [
    [
      onStep(() => undefined),
      /OpenEnv server http\S+ must answer, got nothing within 0.3 s/,
      { timeoutMs: 300 },
    ],
    [onStep((s) => s.send("no JSON")), /got 7 characters that are not JSON/],
    [onStep((s) => s.send('{"type":"observation","data":[1]}')), /got data that is a list/],
    [onStep((s) => s.send(`"${"x".repeat(5000)}"`)), /more than 1000 bytes/, { maxBytes: 1000 }],
    [
      onStep((s) => s.send("[".repeat(5e4) + "]".repeat(5e4))),
      /got more lists and objects within each other than allowed/,
    ],
    [onStep((s) => s.terminate()), /got a closed connection/],
  ];
  for (const [fault, message, more] of cases) {
    const own = { n: 1, initialRollouts: 1, callLimit: 1 };
    const { trees } = await grow(t, { capacity: 2, fault }, more, own);
    assert.match(trees[0]!.selected[0]!.toolCalls[0]!.failure!.message, message);
  }
});

test("a session that is lost continues in another where replays agree: the trees are the same", async (t) => {
  let steps = 0;
  let lost = 0;
  const { trees } = await grow(t, {
    capacity: 8,
    fault: (socket, { type }) => {
      if (type !== "step" || ++steps % 20 !== 0) return false;
      lost++;
      socket.terminate();
      return true;
    },
  });
  const { trees: calm } = await grow(t, { capacity: 8 });
  assert.ok(lost >= 2, `${lost} sessions were lost`);
  assert.equal(bytes(trees), bytes(calm));
});

test("a server that stays full is named after waitMs; a token is sent and never shown", async (t) => {
  const { url, seen } = await openEnvServer(t, { world: walk, capacity: 0 });
  process.env["ARPO_TEST_OPEN_ENV"] = "s3cret-token";
  t.after(() => delete process.env["ARPO_TEST_OPEN_ENV"]);
  const environment = openEnv(url, { waitMs: 300, tokenEnv: "ARPO_TEST_OPEN_ENV" });
  await assert.rejects(rollout(walker(), tasks, { ...options, environment }), (error: Error) => {
    assert.match(
      error.message,
      /must have one free within 0.3 s, got .*in use; start it with more/,
    );
    assert.ok(!error.message.includes("s3cret"));
    return true;
  });
  assert.deepEqual([...seen.tokens], ["Bearer s3cret-token"]);
  const wrong = (more: object) => () => openEnv(url, more);
  assert.throws(wrong({ sessions: 0 }), /sessions must be an integer of at least 1, got 0/);
  assert.throws(wrong({ branch: "probe" }), /branch must be/);
  assert.throws(() => openEnv("ws://x/?key=1"), /http or https address, got "ws:\/\/x\/"/);
});

test("checkOpenEnv() says whether trajectories can branch, and how many sessions there are", async (t) => {
  const one = await openEnvServer(t, { world: walk });
  const found = await checkOpenEnv(one.url, [{ tag: "act", input: "RIGHT" }]);
  assert.match(
    found.tools["act"]!,
    /^Moves by one\. Arguments as JSON: action \(string\): LEFT or RIGHT$/,
  );
  assert.match(found.reset, /^You stand at \d\.$/);
  assert.match(found.calls[0]!.text, /^1: now at \d\.$/);
  assert.deepEqual([found.branches, found.sessions, found.done], [true, "1", false]);
  const odd = await openEnvServer(t, { world: forgetful, capacity: 8 });
  const other = await checkOpenEnv(odd.url, [{ tag: "act", input: "RIGHT" }]);
  assert.deepEqual([other.branches, other.sessions], [false, "2 or more"]);
  assert.match(other.difference!, / \| /);
  const wrong = checkOpenEnv(one.url, [{ tag: "fly", input: "" }]);
  await assert.rejects(wrong, /one of the tools act, got fly/);
});
