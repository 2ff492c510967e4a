import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { packagePath } from "#platform/modules";
import { loadReward } from "../../../reward/load-reward.js";
import { score } from "../../../reward/score-trees.js";
import { rollout } from "../../../rollout/rollout.js";
import { randomTextPolicy } from "../../../rollout/testing/random-text-policy.js";
import { loadTools } from "../../../tools/load-tools.js";
import { exportVerl, type VerlJob } from "../export-verl.js";
import { recordOf } from "../testing/record-of.js";

const tool = `import { calculator } from "arpo-lab/tools";
import { shown, type Sum } from "./parts/shown.ts";

const evaluate = calculator().execute;

export default ({ mark }: { mark: string }) => ({
  name: "sums",
  execute(input: string): string {
    if (input === "fail") throw new Error("as asked");
    return shown({ mark, text: String(evaluate(input)) } satisfies Sum);
  },
});
`;
const shown = `export interface Sum { mark: string; text: string }
export const shown = ({ mark, text }: Sum): string => mark + text;
`;
const reward = `import type { JudgedTrajectory } from "arpo-lab/learn";

export const judge = ({ response, groundTruth, prompt, tree, length }: JudgedTrajectory) => ({
  score: response.length + length / 1000 + tree.trajectories,
  reason: [prompt.question, groundTruth, tree.kind, tree.trajectory].join(" "),
  parts: { length },
});
`;

interface Place {
  folder: string;
  job: VerlJob;
  tools: { class_path: string; params: { mark: string } };
}

/** A job folder with a tool and a reward in TypeScript. */
async function exported(t: TestContext): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-sidecar-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "parts"));
  await writeFile(join(folder, "sums.ts"), tool);
  await writeFile(join(folder, "parts/shown.ts"), shown);
  await writeFile(join(folder, "reward.ts"), reward);
  const tools = { class_path: join(folder, "sums.ts"), params: { mark: "= " } };
  const instance = "actor_rollout_ref.rollout.tools.tool_instances.sum";
  const overrides = [
    ...["data.train_files=tasks:calc?train=2", "data.val_files=tasks:calc?test=1"],
    ...[`+${instance}.class_path=${tools.class_path}`, `+${instance}.params.mark='= '`],
    `custom_reward_function.path=${join(folder, "reward.ts")}`,
    "custom_reward_function.name=judge",
  ];
  const out = join(folder, "job");
  const how = { package: packagePath(""), tools: { python: "calculator", search: "mine:search" } };
  return { folder, tools, job: await exportVerl({ preset: "arpo", overrides }, out, how) };
}

/** Plays the worker: listens, starts the script, asks. */
async function sidecar(t: TestContext, folder: string) {
  const place = join(folder, "s");
  const server = createServer().listen(place);
  t.after(() => server.close());
  const child = spawn("sh", [join(folder, "job/sidecar.sh"), place], {
    env: { ...process.env, RAY_AUTH_TOKEN: "secret" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const [socket] = (await Promise.race([
    once(server, "connection"),
    once(child, "exit").then(([status]) => assert.fail(`it ended with ${String(status)}`)),
  ])) as [Socket];
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const ask = async (question: object): Promise<Record<string, unknown>> => {
    socket.write(`${JSON.stringify(question)}\n`);
    return JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
  };
  return { ask, child, socket };
}

test("a user's TypeScript tool and reward answer a worker of verl as they do here", async (t) => {
  const { folder, tools } = await exported(t);
  const { ask, child, socket } = await sidecar(t, folder);
  const here = await loadTools({ tool_instances: { sum: tools } });
  for (const [id, input] of ["6*7", "fail", "7/", ""].entries()) {
    const { text, ok, retries } = await here.call("sum", input);
    assert.deepEqual(await ask({ id, do: "call", tag: "sum", input }), { id, text, ok, retries });
  }
  const prompt = [{ role: "user", content: "6*7?" }];
  const task = { prompt, groundTruth: "42" };
  const tree = await rollout(randomTextPolicy(), task, { n: 8, seed: 5, branchProbability: 0.9 });
  const { trajectories: rows } = await score(
    tree,
    await loadReward(join(folder, "reward.ts"), "judge"),
  );
  const { outcomes } = await ask({ id: 9, do: "score", tree: recordOf(tree, 1, 0) });
  assert.deepEqual(
    outcomes,
    rows.map((row) => row.score),
  );
  assert.match(rows[0]!.score.reason, /^6\*7\? 42 initial 0$/);
  const { error } = await ask({ id: 10, do: "call", tag: "python", input: "1" });
  assert.match(String(error), /the tag must be one of sum, got python/);
  assert.match(String((await ask({ id: 11, do: "dance" })).error), /dance|discriminator/i);
  socket.destroy();
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("a job folder with TypeScript in it names what runs in Node, and carries what it imports", async (t) => {
  const { folder, job } = await exported(t);
  const read = (name: string) => readFile(join(folder, "job", name), "utf8");
  const loop = await read("agent_loop.yaml");
  assert.match(loop, /call_tools:\n +sum: node\n +python: calculator\n +search: mine:search\n/);
  assert.match(loop, /sidecar: \$\{oc.env:ARPO_LAB_JOB\}\n +scores: true/);
  assert.ok(job.notes.some((note) => note.startsWith("<sum>, the reward: in Node")));
  assert.ok(job.overrides.includes("reward.custom_reward_function.path=@JOB@/reward.py"));
  assert.match(await read("reward.py"), /must have scored it in Node/);
  assert.match(await read("config.yaml"), /class_path: \.\/files\/0\/sums.ts/);
  assert.equal(await read("files/0/parts/shown.ts"), shown);
});

test("a tool that is not there, and a package that is not, are refused", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-sidecar-"));
  t.after(() => rm(folder, { recursive: true }));
  const instance = "actor_rollout_ref.rollout.tools.tool_instances.sum.class_path";
  const data = ["data.train_files=tasks:calc?train=2", "data.val_files=tasks:calc?test=1"];
  const make = (overrides: string[], lab = "image") =>
    exportVerl({ preset: "grpo", overrides: [...data, ...overrides] }, join(folder, "job"), {
      package: lab,
    });
  await assert.rejects(make([`+${instance}=./none.ts`]), /sum.class_path.*\.\/none\.ts/);
  await assert.rejects(make([`+${instance}=python`], "lab.tgz"), /must be a file that is there/);
  await make([`+${instance}=python`]);
  assert.match(await readFile(join(folder, "job/sidecar.sh"), "utf8"), /\nlab=image\n/);
});
