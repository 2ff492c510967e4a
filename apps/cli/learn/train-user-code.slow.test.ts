// What a reward or a tool of a user's does to the process must not pass for a run's end.
import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fingerprint, runToEnd, small } from "../../../tests/cli/training-run.js";

interface Project {
  folder: string;
  /** The command over a reward whose body is this, with the count of its calls as `n`. */
  train: (body: string, ...more: string[]) => ReturnType<typeof runToEnd>;
}

async function project(t: TestContext): Promise<Project> {
  const home = await mkdtemp(join(tmpdir(), "arpo-lab-user-"));
  t.after(() => rm(home, { recursive: true }));
  const folder = join(home, "run");
  const reward = join(home, "reward.mjs");
  return {
    folder,
    train: async (body, ...more) => {
      await writeFile(
        reward,
        `let n = 0;\nexport async function compute_score(judged) {\n  n++;\n  ${body}\n  return judged.length % 3;\n}\n`,
      );
      return runToEnd([
        ...small("trainer.total_training_steps=3", "trainer.save_freq=1", "trainer.test_freq=3"),
        ...[`custom_reward_function.path=${reward}`, "--out", folder, ...more],
      ]);
    },
  };
}

const metrics = async (folder: string) =>
  (await readFile(join(folder, "metrics.jsonl"), "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, number>);

test("a floating rejection and a late throw of a reward do not end train: told once, counted", async (t) => {
  const { folder, train } = await project(t);
  const { status, output } = await train(
    'void Promise.reject(new Error("floating")); setTimeout(() => { throw new Error("late"); }, 1);',
  );
  assert.equal(status, 0, output);
  const told = output.match(/an error that nobody waited for, from the reward.*Error: floating/g);
  assert.equal(told?.length, 1, output);
  assert.match(output, /reward\.mjs:4:\d+: Error: floating; the run goes on/);
  assert.match(output, /nobody waited for, from .*reward\.mjs:4:\d+: Error: late/);
  const lines = await metrics(folder);
  assert.ok(
    lines.every((line) => line["training/stray_errors"]! >= 8),
    JSON.stringify(lines),
  );
});

test("a reward that calls process.exit(0) is named, and the run fails rather than succeeds", async (t) => {
  const { folder, train } = await project(t);
  const whole = await project(t);
  assert.equal((await whole.train("")).status, 0);
  const { status, output } = await train("if (n > 12) process.exit(0);");
  assert.equal(status, 1, output);
  assert.match(output, /Cannot score task calc-train-\d+, trajectory \d: .*got process\.exit\(0\)/);
  const fixed = await train("");
  assert.equal(fixed.status, 0, fixed.output);
  const last = (path: string) => fingerprint(join(path, "global_step_3"));
  assert.deepEqual(last(folder), last(whole.folder));
});

test("a tool that calls process.exit(0) has failed, and the run goes on", async (t) => {
  const { folder, train } = await project(t);
  const tool = join(folder, "..", "quits.mjs");
  await writeFile(tool, "export default { name: 'python', execute: () => process.exit(0) };\n");
  const path = "actor_rollout_ref.rollout.tools.tool_instances.python.class_path";
  const { status, output } = await train("", `${path}=${tool}`);
  assert.equal(status, 0, output);
  assert.match(output, /the tool <python> called process\.exit\(0\): the run goes on without it/);
  assert.equal((await metrics(folder)).length, 3);
});

for (const [what, body, says] of [
  [
    "a reward that never settles",
    "if (n > 12) await new Promise(() => {});",
    /the reward must answer within 3 s/,
  ],
  ["a reward that loops without end", "if (n > 12) for (;;);", /compute_score in .*reward\.mjs:4/],
  [
    "a reward that loops without end behind an await",
    "if (n > 12) { await null; for (;;); }",
    /compute_score in .*reward\.mjs:4/,
  ],
] as const) {
  test(`${what} is named, ends train with status 1, and the run resumes`, async (t) => {
    const { folder, train } = await project(t);
    const limits = ["lab.stuck_after=4", "lab.reward_timeout=3"];
    const { status, output } = await train(body, ...limits);
    assert.equal(status, 1, output);
    assert.match(output, /task calc-train-\d+, trajectory \d/);
    assert.match(output, says);
    assert.match(output, /the same command continues from/);
    assert.ok((await readdir(folder)).includes("global_step_1"));
    const fixed = await train("");
    assert.equal(fixed.status, 0, fixed.output);
    assert.equal((await metrics(folder)).length, 3);
  });
}

test("a tool that never gives its disposal back does not keep train from ending", async (t) => {
  const { folder, train } = await project(t);
  const tool = join(folder, "..", "stays.mjs");
  await writeFile(
    tool,
    "export default { name: 'python', execute: () => '1', dispose: () => new Promise(() => {}) };\n",
  );
  const tools = "actor_rollout_ref.rollout.tools";
  const { status, output } = await train(
    "",
    `${tools}.tool_instances.python.class_path=${tool}`,
    `${tools}.timeout=1`,
  );
  assert.match(output, /done: 3 steps/);
  assert.match(output, /python.* must end within 1 s/);
  assert.equal(status, 1, output);
});

test("a module that ends the process while it is loaded is named", async (t) => {
  const { folder, train } = await project(t);
  const { status, output } = await train("return 1; }\nprocess.exit(0);\nfunction rest(judged) {");
  assert.equal(status, 1, output);
  assert.match(output, /Cannot load a reward: .*reward\.mjs.* got process\.exit\(0\)/);
  assert.ok(!output.includes("training in"), folder);
});
