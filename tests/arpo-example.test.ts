import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  Policy,
  Random,
  rollout,
  type RolloutOptions,
  type Task,
  tasks,
  taskTools,
  type ToolSet,
} from "../src/api/index.js";
import type { ModelPolicy } from "../src/api/policy.js";
import { importModule } from "../src/base/modules/import-module.js";

const path = new URL("../../examples/arpo.ts", import.meta.url);

/** What examples/arpo.ts exports, as far as its trees are looked at. */
interface Example {
  settings: Record<"n" | "initialRollouts" | "responseLength" | "callLimit", number>;
  arpo: object;
  aepo: object;
  growTree(
    policy: ModelPolicy,
    tools: ToolSet,
    task: Task,
    random: Random,
    use: object,
  ): Promise<{
    trajectories: {
      parent: number;
      calls: number;
      response: { id: number; written: boolean; logprob: number; entropy: number }[];
    }[];
    decisions: [id: number, round: number, yes: boolean][];
  }>;
}
const example = (await importModule(path.href)) as unknown as Example;
const { settings } = example;
const policy = await Policy.load("data/models/tiny");
const questions = [
  ...tasks.calc({ seed: 7, train: 24, test: 1 }).train,
  ...tasks.mixed({ seed: 3, train: 24, test: 1 }).train,
];
const tools = taskTools({});
after(async () => {
  await tools.dispose();
  policy.dispose();
});

for (const [name, seed] of [
  ["arpo", 1],
  ["arpo", 5],
  ["aepo", 1],
  ["aepo", 5],
] as const) {
  test(`the trees of examples/arpo.ts are rollout's: ${name}, seed ${seed}`, async () => {
    const { n, initialRollouts, responseLength, callLimit } = settings;
    const options: RolloutOptions = { n, initialRollouts, responseLength, callLimit };
    const asked = questions.filter((_, i) => i % 2 === Number(seed === 5));
    const trees = await rollout(policy, asked, { preset: name, ...options, tools, seed });
    const random = Random.from(seed);
    const grown = await Promise.all(
      asked.map((task, i) => example.growTree(policy, tools, task, random.split(i), example[name])),
    );
    trees.forEach((tree, i) => {
      const { trajectories, decisions } = grown[i]!;
      assert.equal(trajectories.length, tree.trajectories.length);
      tree.trajectories.forEach((wanted, j) => {
        const { parent, calls, response } = trajectories[j]!;
        // A call beyond the limit ends with an end token, which nothing is trained on.
        const length = wanted.tokens.length - Number(wanted.end === "call-limit");
        const found = response.slice(0, responseLength);
        assert.deepEqual([parent, calls], [wanted.parent, wanted.calls], `${i}, ${j}`);
        assert.deepEqual(
          found.map((token) => token.id),
          [...wanted.tokens.subarray(0, length)],
        );
        const written = found.map((token) => Number(token.written));
        assert.deepEqual(written, [...wanted.written.subarray(0, length)]);
        found.forEach((token, t) => {
          if (!token.written) return;
          assert.equal(token.logprob, wanted.logprobs[t]);
          assert.equal(token.entropy, wanted.entropies[t]);
        });
      });
      const attempts = tree.nodes.flatMap(({ branch = [] }) => branch);
      const inOrder = (list: readonly (readonly [number, number, boolean])[]) =>
        [...list].sort(([a, r], [b, s]) => r - s || a - b);
      assert.deepEqual(
        inOrder(decisions),
        inOrder(attempts.map(({ trajectory, round, branch }) => [trajectory, round, branch])),
      );
    });
    const all = grown.flatMap(({ decisions }) => decisions);
    // The seeds have both: trees that branch, and attempts that fail.
    assert.ok(all.some(([, , yes]) => yes) && all.some(([, , yes]) => !yes));
  });
}

test("examples/arpo.ts imports stable entry points alone, and runs as a program", async () => {
  const text = readFileSync(path, "utf8");
  const imported = [...text.matchAll(/from "(.*)";/g)].map(([, name]) => name!);
  assert.deepEqual([...new Set(imported)].sort(), [
    "arpo-lab",
    "arpo-lab/model",
    "arpo-lab/policy",
    "node:url",
  ]);
  const bin = fileURLToPath(new URL("../../apps/cli/bin/arpo-lab.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...[bin, "run", fileURLToPath(path), "aepo", "1"],
  ]);
  assert.match(stdout, /^step 1: reward -?\d\.\d{3}, \d+ of 64 branched\n$/);
});
