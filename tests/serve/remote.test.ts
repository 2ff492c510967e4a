// Our remote policy against our own server: what comes over the wire is what a local policy gives.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tasks } from "../../src/tasks/tasks/index.js";
import { world } from "../../src/tasks/tasks/world.js";
import { Policy } from "../../src/policy/policies.js";
import type { Dialect, RemoteApi } from "../../src/policy/remote/dialect.js";
import type { Segment } from "../../src/policy/policy.js";
import { Random } from "../../src/base/random/random.js";
import { rollout } from "../../src/rollout/rollout.js";
import { rolloutPresets } from "../../src/rollout/presets.js";
import { taskTools } from "../../src/tasks/task-tools.js";
import { serveTiny, tinyFolder } from "./tiny-server.js";

function assertNear(actual: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  assert.equal(actual.length, expected.length, what);
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(actual[i]! - expected[i]!);
    assert.ok(difference <= 1e-4, `${what}[${i}]: ${actual[i]} against ${expected[i]}`);
  }
}

const ways: [Dialect, RemoteApi][] = [
  ["arpo-lab", "completions"],
  ["arpo-lab", "chat"],
  ["vllm", "completions"],
  ["vllm", "chat"],
  ["openai", "completions"],
];
for (const [dialect, api] of ways) {
  test(`RemotePolicy gives over ${dialect} ${api} what a local policy gives for the seed`, async (t) => {
    const { policy: local, server } = await serveTiny(t);
    const remote = await Policy.remote(server.url, { tokenizer: tinyFolder, dialect, api });
    assert.deepEqual([remote.contextLength, remote.name.startsWith("tiny at")], [512, true]);
    await remote.checkTokenizer();
    const [here, there] = [local.session(), remote.session()];
    const stop = ["</python>", "</search>"];
    const samplings = [{}, { temperature: 0 }, { temperature: 0.7, topP: 0.9, maxTokens: 9 }];
    const own = { topK: 3, minP: 0.05, repetitionPenalty: 1.2 };
    if (dialect !== "openai") samplings.push(own as object);
    const questions = tasks.mixed({ seed: 3, train: 3, test: 1 }).train;
    await Promise.all(
      questions.flatMap(({ prompt }, q) =>
        samplings.map(async (sampling, s) => {
          const messages = prompt as { role: string; content: string }[];
          const text = remote.tokenizer.chat(messages, { addGenerationPrompt: true });
          const tokens = remote.tokenizer.encode(text);
          const stream = () => Random.from(100 * q + s);
          // Where the server knows nothing of streams, it draws from that of the seed it was sent.
          const seeded = () => Random.from(Math.floor(stream().uniform() * 2 ** 31));
          const options = { maxTokens: 60, stop, ...sampling };
          const ours = dialect === "arpo-lab" ? stream() : seeded();
          const mine = stream();
          const told: number[] = [];
          const onToken = ({ token }: { token: number }) => void told.push(token);
          const [a, b]: Segment[] = await Promise.all([
            here.generate(here.open(tokens), { ...options, random: ours }),
            there.generate(there.open(tokens, { messages }), { ...options, random: mine, onToken }),
          ]);
          assert.deepEqual([...b!.tokens], [...a!.tokens]);
          assert.deepEqual([b!.finish, b!.stop, told], [a!.finish, a!.stop, [...a!.tokens]]);
          const known =
            dialect === "openai" ? b!.logprobs.findLastIndex((x) => !isNaN(x)) + 1 : 1e9;
          assertNear(b!.logprobs.slice(0, known), a!.logprobs.slice(0, known), "logprobs");
          assert.ok(known > 3, "hardly a log-prob came");
          if (dialect !== "arpo-lab") return;
          assertNear(b!.entropies, a!.entropies, "entropies");
          assert.equal(b!.top.width, a!.top.width > 10 ? 10 : a!.top.width);
          assert.equal(mine.state().position, ours.state().position);
        }),
      ),
    );
    if (dialect === "arpo-lab") assert.match(remote.entropyMeaning, /is known too/);
  });
}

test("rollout() grows over the wire the very trees it grows here", async (t) => {
  const { policy: local, server } = await serveTiny(t);
  const remote = await Policy.remote(server.url, { tokenizer: tinyFolder, dialect: "arpo-lab" });
  await using tools = taskTools(world);
  const { train } = tasks.mixed({ seed: 5, train: 3, test: 1 });
  const options = {
    ...rolloutPresets.arpo,
    n: 8,
    initialRollouts: 4,
    tools,
    seed: 2,
    keepTop: false,
  };
  const [here, there] = await Promise.all([
    rollout(local, train, { ...options, responseLength: 200 }),
    rollout(remote, train, { ...options, responseLength: 200 }),
  ]);
  const shape = (trees: typeof here) =>
    trees.map((tree) => ({
      rows: tree.trajectories.map(({ kind }) => kind),
      trajectories: tree.selected.map(({ text, end, tokens }) => [text, end, [...tokens]]),
    }));
  assert.deepEqual(shape(there), shape(here));
  assert.ok(here.some((tree) => tree.trajectories.some(({ kind }) => kind === "branch")));
  for (const [i, tree] of there.entries()) {
    for (const [k, { logprobs }] of tree.selected.entries()) {
      const ours = here[i]!.selected[k]!.logprobs;
      const same = [...logprobs].every(
        (l, j) => Object.is(l, ours[j]) || Math.abs(l - ours[j]!) <= 1e-4,
      );
      assert.ok(same, "log-probs differ");
    }
  }
});
