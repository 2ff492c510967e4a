// docs/openenv.md with the real server: `openenv init`, uvicorn, some steps of its program; and trees that do not
// depend on how many sessions the server has. Needs a Python that has openenv (ARPO_LAB_OPENENV_PYTHON).
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { httpEnvironment } from "../../src/environments/http-environment.js";
import { openEnv } from "../../src/environments/open-env/open-env.js";
import { presets } from "../../src/run/presets.js";
import { treesToJsonl } from "../../src/rollout/files/tree-jsonl.js";
import { rollout } from "../../src/rollout/rollout.js";
import type { RolloutTree } from "../../src/rollout/rollout-tree.js";
import { ScriptedPolicy } from "../../src/rollout/testing/scripted-policy.js";
import { freePort } from "../free-port.js";
import { temporaryFolder } from "../temporary.js";
import { until } from "../until.js";

const python = process.env["ARPO_LAB_OPENENV_PYTHON"];
const root = fileURLToPath(new URL("../../../", import.meta.url));

function missing(): string | false {
  if (python === undefined) return "ARPO_LAB_OPENENV_PYTHON names no Python";
  const { status } = spawnSync(python, ["-c", "import openenv, uvicorn"]);
  return status !== 0 && `${python} has no openenv`;
}

/** Starts what `openenv init` writes, with so many sessions; `step` replaces the reward that a step gives. */
async function lamp(
  t: TestContext,
  { sessions = 1, reward }: { sessions?: number; reward?: string } = {},
) {
  const folder = temporaryFolder("openenv");
  const made = spawnSync(join(dirname(python!), "openenv"), ["init", "lamp_env"], { cwd: folder });
  assert.equal(made.status, 0, String(made.stderr));
  const edit = (name: string, from: string, to: string) => {
    const path = join(folder, "lamp_env/server", name);
    const text = readFileSync(path, "utf8");
    assert.ok(text.includes(from), `${name} has ${from}`);
    writeFileSync(path, text.replace(from, to));
  };
  edit("app.py", "max_concurrent_envs=1", `max_concurrent_envs=${sessions}`);
  if (reward) edit("lamp_env_environment.py", "min(length * 0.1, 1.0)", reward);
  const port = await freePort();
  const args = ["-m", "uvicorn", "lamp_env.server.app:app", "--port", String(port)];
  const child = spawn(python!, args, { cwd: folder, stdio: "ignore" });
  t.after(() => child.kill());
  const url = `http://127.0.0.1:${port}`;
  const health = () => fetch(`${url}/health`).catch(() => undefined);
  await until(async () => (await health())?.ok === true, "it answers", 240_000);
  return { folder, url };
}

/** ARPO trees of a policy that sends messages of random length. */
async function grow(url: string): Promise<RolloutTree[]> {
  const policy = new ScriptedPolicy(({ options: { random } }) => ({
    text: `<act>${"light ".repeat(1 + random.integer(3))}</act>`,
    confidence: 0.3 + 0.7 * random.uniform(),
  }));
  const environment = openEnv(url, { name: "lamp" });
  const options = {
    ...presets.arpo,
    n: 8,
    initialRollouts: 3,
    branchProbability: 0.9,
    callLimit: 4,
  };
  return rollout(
    policy,
    [
      { prompt: "Talk.", id: "a" },
      { prompt: "Talk on.", id: "b" },
    ],
    {
      ...{ ...options, seed: 2, environment },
    },
  );
}
const branchesOf = (trees: readonly RolloutTree[]) =>
  trees.flatMap(({ trajectories }) => trajectories).filter(({ kind }) => kind === "branch").length;

test(
  "ARPO trees of a server with one session are those of one with eight, byte for byte",
  { skip: missing() },
  async (t) => {
    const one = await lamp(t);
    const eight = await lamp(t, { sessions: 8 });
    const trees = await grow(one.url);
    assert.ok(branchesOf(trees) > 3, `${branchesOf(trees)} branches`);
    assert.ok(trees.every(({ trajectories }) => trajectories.every(({ calls }) => calls === 4)));
    const bytes = (some: readonly RolloutTree[]) => treesToJsonl(some, { timing: false });
    assert.equal(bytes(trees), bytes(await grow(eight.url)));
    // Each of its requests would have a world of its own.
    const environment = httpEnvironment(one.url, { tools: { act: "Acts." } });
    const policy = new ScriptedPolicy(() => ({ text: "<act>hello</act>" }));
    await assert.rejects(
      rollout(policy, { prompt: "Talk." }, { n: 1, environment }),
      /use openEnv for an OpenEnv server/,
    );
  },
);

for (const sessions of [1, 8]) {
  test(
    `a server that ignores seeds, with ${sessions} sessions: no branches, all trajectories, one notice`,
    { skip: missing() },
    async (t) => {
      const { url } = await lamp(t, { sessions, reward: "__import__('random').random()" });
      const said = t.mock.method(process.stderr, "write", () => true);
      const trees = [...(await grow(url)), ...(await grow(url))];
      said.mock.restore();
      const notes = said.mock.calls.map(({ arguments: [line] }) => String(line)).join("");
      assert.equal(notes.match(/this environment cannot branch/g)?.length, 2, notes);
      const rows = trees.flatMap(({ trajectories }) => trajectories);
      assert.equal(rows.length, 32);
      assert.ok(rows.every(({ outcome, calls }) => !outcome?.failure && calls === 4));
      assert.equal(branchesOf(trees), 0);
    },
  );
}

test(
  "docs/openenv.md: a policy is trained on what `openenv init` writes",
  { skip: missing() },
  async (t) => {
    const { folder, url } = await lamp(t);
    for (const name of ["node_modules", "data"]) symlinkSync(join(root, name), join(folder, name));
    const page = readFileSync(join(root, "docs/openenv.md"), "utf8");
    const [, name, text] = /^```ts (\S+)\n([^]*?)^```$/m.exec(page)!;
    writeFileSync(join(folder, name!), text!);
    const run = spawn(process.execPath, [join(root, "apps/cli/bin/arpo-lab.mjs"), "run", name!], {
      cwd: folder,
      env: { ...process.env, LAMP_URL: url, STEPS: "30" },
    });
    let said = "";
    for (const stream of [run.stdout, run.stderr]) stream.on("data", (more) => (said += more));
    const [status] = (await once(run, "exit")) as [number];
    assert.equal(status, 0, said);
    const rewards = [...said.matchAll(/^\d+ (\d\.\d+)$/gm)].map(([, mean]) => Number(mean));
    assert.equal(rewards.length, 30, said);
    const mean = (list: number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
    assert.ok(mean(rewards.slice(-5)) > mean(rewards.slice(0, 2)) + 0.2, rewards.join(" "));
  },
);
