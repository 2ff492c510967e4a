import assert from "node:assert/strict";
import { test } from "node:test";
import { score } from "../../reward/score-trees.js";
import { treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { harnessRollout } from "./harness-rollout.js";
import {
  ask,
  assistant,
  scriptedCapture,
  type Script,
  user,
} from "../../../tests/capture/scripted-capture.js";

const script: Script = {
  "<u>hi<e><a>": ["one<e>", "two<e>", "six<e>"],
  ...Object.fromEntries(
    ["one", "two", "six"].map((said) => [
      `<u>hi<e><a>${said}<e><u>go<e><a>`,
      ["left<e>", "right<e>", "down<e>"],
    ]),
  ),
};

/** A program of two calls; what it says in the second may follow from the outside. */
const program =
  (says: () => string = () => "go", asked: string[] = []) =>
  async (env: Record<string, string>) => {
    const session = { env, key: env["OPENAI_API_KEY"]! };
    const first = (await ask(session, [user("hi")])).json!.choices[0]!.message.content!;
    const second = await ask(session, [user("hi"), assistant(first), user(says())]);
    asked.push(first);
    if (second.status !== 200) throw new Error(second.json!.error!.message);
    return Number(second.json!.choices[0]!.message.content === "left");
  };

test("harnessRollout runs the program again for branches, which share the recorded beginning", async (t) => {
  const { policy } = await scriptedCapture(t, script);
  const asked: string[] = [];
  const options = {
    run: program(undefined, asked),
    n: 6,
    initialRollouts: 2,
    branchProbability: 1,
  };
  const [tree, ...others] = await harnessRollout(policy, { id: "walk" }, options);
  assert.equal(others.length, 0);
  assert.equal(tree!.trajectories.length, 6);
  const branches = tree!.trajectories.filter(({ kind }) => kind === "branch");
  assert.ok(branches.length >= 2);
  for (const { parent, tokens, from } of branches) {
    const source = tree!.trajectories[parent]!;
    const first = tree!.nodes[source.nodes[0]!]!;
    // The first answer and the program's words are the recorded ones, and stand once.
    assert.ok(tree!.path(from).some(({ id }) => id === first.id));
    assert.deepEqual([...tokens.subarray(0, 4)], [...source.tokens.subarray(0, 4)]);
  }
  assert.equal(asked.length, 6, "one run for each row");
  const scored = await score(tree!);
  assert.ok(
    scored.trajectories.every(
      ({ trajectory, score }) => score.score === Number(trajectory.text.endsWith("left")),
    ),
  );
  const again = await harnessRollout(policy, { id: "walk" }, { ...options, run: program() });
  assert.equal(treesToJsonl(again), treesToJsonl([tree!]), "the same seed gives the same tree");
});

test("a branch leaves at a token: what stands before it is kept, what follows is sampled", async (t) => {
  const { server } = await scriptedCapture(t, { "<u>hi<e><a>": ["abcx<e>", "abcy<e>", "abcz<e>"] });
  const first = server.session();
  await ask(first, [user("hi")]);
  const captured = await server.end(first, 0);
  const ends = new Set<number>();
  for (let run = 0; run < 8; run++) {
    const session = server.session({ replay: captured, at: { call: 0, token: 3 } });
    const { json } = await ask(session, [user("hi")]);
    assert.match(json!.choices[0]!.message.content!, /^abc[xyz]$/);
    const branch = await server.end(session, 1);
    assert.deepEqual([...branch.calls[0]!.tokens.subarray(0, 3)], [97, 98, 99]);
    assert.deepEqual(
      [...branch.calls[0]!.logprobs.subarray(0, 3)],
      [...captured.calls[0]!.logprobs.subarray(0, 3)],
    );
    ends.add(branch.calls[0]!.tokens[3]!);
  }
  assert.ok(ends.size > 1);
  const [tree] = server.trees(captured.group);
  assert.equal(tree!.nodes[0]!.text, "abc");
  assert.equal(tree!.trajectories.length, 9);
  assert.ok(
    tree!.trajectories.slice(1).every(({ kind, parent }) => kind === "branch" && parent === 0),
  );
  assert.throws(
    () => server.session({ replay: captured, at: { call: 3 } }),
    /at\.call must be one of the record's 1 calls/,
  );
  assert.throws(
    () => server.session({ replay: captured, at: { call: 0, token: 9 } }),
    /at\.token must be an integer from 0 to 5/,
  );
  assert.throws(() => server.session({ at: { call: 0 } }), /replay and at must be given together/);
});

test("a program that asks something else is refused with both texts; its rows are not trained on", async (t) => {
  const { policy } = await scriptedCapture(t, {
    ...script,
    ...Object.fromEntries(
      [1, 2, 3, 4, 5, 6, 7, 8].flatMap((at) =>
        ["one", "two", "six"].map((said) => [`<u>hi<e><a>${said}<e><u>at ${at}<e><a>`, "left<e>"]),
      ),
    ),
  });
  let clock = 0;
  const refused: string[] = [];
  const options = {
    n: 4,
    initialRollouts: 2,
    branchProbability: 1,
    atOnce: 1,
    onRefused: (reason: string) => refused.push(reason),
  };
  const run = program(() => `at ${++clock}`);
  const [tree] = await harnessRollout(policy, { id: "clock" }, { run, ...options });
  assert.ok(refused.length > 0);
  assert.match(
    refused[0]!,
    /the prompt of call 1 must be as recorded, "\d<e><a>" behind \d+ equal tokens, got "\d<e><a>"/,
  );
  assert.ok(tree!.trajectories.every(({ kind }) => kind === "initial"));
});

test("programs that fail, hang or ask nothing: rows with a reason, or an error; keys stay inside", async (t) => {
  const { policy } = await scriptedCapture(t, script);
  const failing = async (env: Record<string, string>) => {
    await ask({ env, key: env["OPENAI_API_KEY"]! }, [user("hi")]);
    throw new Error(`no way with ${env["OPENAI_API_KEY"]!}`);
  };
  const [tree] = await harnessRollout(policy, {}, { run: failing, n: 1 });
  const { outcome } = tree!.trajectories[0]!;
  assert.deepEqual([outcome!.score, outcome!.reason], [0, "the program failed: no way with KEY"]);
  const hanging = async (env: Record<string, string>) => {
    await ask({ env, key: env["OPENAI_API_KEY"]! }, [user("hi")]);
    await new Promise(() => undefined);
  };
  const [late] = await harnessRollout(policy, {}, { run: hanging, n: 1, timeoutMs: 300 });
  assert.match(late!.trajectories[0]!.outcome!.reason, /it took longer than 0\.3 s/);
  await assert.rejects(
    harnessRollout(policy, {}, { run: () => 1, n: 2 }),
    /must ask at OPENAI_BASE_URL.*in 4 runs/,
  );
  await assert.rejects(
    harnessRollout(policy, [{ id: "a" }, { id: "a" }], { run: () => 1 }),
    /id of its own, got a again/,
  );
});
