// Agent programs with real packages, captured; and OpenEnv's own capture server before our engine, which must record
// the same. Needs Pythons that have openai-agents and pydantic-ai (ARPO_LAB_AGENTS_PYTHON), and openenv
// (ARPO_LAB_OPENENV_PYTHON).
import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { capture } from "../../src/capture/capture-server.js";
import { harnessRollout } from "../../src/capture/harness-rollout.js";
import { Policy } from "../../src/policy/policies.js";
import { freePort } from "../free-port.js";
import { serveTiny, tinyFolder } from "../serve/tiny-server.js";
import { until } from "../until.js";

const python = process.env["ARPO_LAB_AGENTS_PYTHON"];
const openenv = process.env["ARPO_LAB_OPENENV_PYTHON"];
const program = fileURLToPath(new URL("../../../tests/python/agent_program.py", import.meta.url));
const execute = promisify(execFile);

function missing(path: string | undefined, name: string, modules: string): string | false {
  if (path === undefined) return `${name} names no Python`;
  const { status } = spawnSync(path, ["-c", `import ${modules}`]);
  return status !== 0 && `${path} has no ${modules}`;
}
const noAgents = missing(python, "ARPO_LAB_AGENTS_PYTHON", "agents, pydantic_ai");
const noOpenEnv = missing(openenv, "ARPO_LAB_OPENENV_PYTHON", "openenv");

async function runAgent(name: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await execute(python!, [program, name], { env: { ...process.env, ...env } });
  return stdout.trim();
}

interface OpenEnvRecord {
  trainable: boolean;
  sequences: { input_ids: number[]; loss_mask: number[] }[];
}

test(
  "openai-agents: one row, whose ids are those of OpenEnv's own capture server",
  { skip: noAgents || noOpenEnv },
  async (t) => {
    const policy = await Policy.load(tinyFolder);
    const server = await capture(policy);
    t.after(async () => {
      await server.stop();
      policy.dispose();
    });
    const session = server.session({ task: { id: "sum" } });
    await runAgent("openai-agents", session.env);
    const { trees, calls } = await server.end(session, 1);
    assert.ok(calls.length >= 2 && calls.every(({ rewrite }) => rewrite === undefined));
    assert.equal(trees.length, 1);
    assert.equal(trees[0]!.trajectories.length, 1);
    const [row] = trees[0]!.trajectories;
    assert.equal(row!.toolCalls[0]!.tag, "python");

    const { server: engine } = await serveTiny(t);
    const port = await freePort();
    const args = [
      "-m",
      "openenv.core.harness.capture.server",
      "--model",
      "tiny",
      "--port",
      String(port),
    ];
    const child = spawn(openenv!, [...args, "--llm-url", engine.url.replace("/v1", "")]);
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
    t.after(() => child.kill());
    const origin = `http://127.0.0.1:${port}`;
    await until(async () => {
      const answer = await fetch(`${origin}/health`).catch(() => undefined);
      return answer?.ok === true;
    }, "OpenEnv's capture server answers");
    assert.match(said, /tokens \(train rollouts\)/);
    const made = await fetch(`${origin}/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const { session_id: key } = (await made.json()) as { session_id: string };
    await runAgent("openai-agents", { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: key });
    const record = (await (
      await fetch(`${origin}/sessions/${key}/rollout`)
    ).json()) as OpenEnvRecord;
    assert.equal(record.sequences.length, 1);
    assert.deepEqual(record.sequences[0]!.input_ids, [...row!.prompt, ...row!.tokens]);
    assert.deepEqual(record.sequences[0]!.loss_mask.slice(row!.prompt.length), [...row!.lossMask]);
  },
);

test(
  "pydantic-ai rewrites <think>: a fork that says so, and what the model wrote trains once",
  { skip: noAgents },
  async (t) => {
    const policy = await Policy.load(tinyFolder);
    const server = await capture(policy);
    t.after(async () => {
      await server.stop();
      policy.dispose();
    });
    const session = server.session();
    await runAgent("pydantic-ai", session.env);
    const { calls, trees } = await server.end(session, 1);
    const { rewrite } = calls[1]!;
    assert.equal(rewrite!.of, 0);
    assert.ok(rewrite!.sent.startsWith("\n") && !rewrite!.recorded.startsWith("\n"));
    assert.equal(trees[0]!.trajectories.length, 2);
  },
);

test(
  "openai-agents branches as a black box: each branch repeats the recorded calls",
  { skip: noAgents },
  async (t) => {
    const policy = await Policy.load(tinyFolder);
    t.after(() => policy.dispose());
    const refused: string[] = [];
    const [tree] = await harnessRollout(
      policy,
      { id: "sum" },
      {
        ...{ n: 4, initialRollouts: 2, branchProbability: 1, from: "token", timeoutMs: 120_000 },
        run: async (env) => Number((await runAgent("openai-agents", env)).includes("41")),
        onRefused: (reason) => refused.push(reason),
      },
    );
    assert.deepEqual(refused, []);
    assert.ok(tree!.trajectories.length >= 4);
    assert.ok(tree!.trajectories.some(({ kind }) => kind === "branch"));
  },
);
