// Responses and Messages by the clients that people use, captured. Needs a Python that has openai, anthropic and
// openai-agents (ARPO_LAB_AGENTS_PYTHON), and a folder in which npm has installed `ai`, @ai-sdk/openai,
// @ai-sdk/anthropic, openai and @anthropic-ai/sdk (ARPO_LAB_AI_FOLDER).
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { capture } from "../../src/interop/capture/capture-server.js";
import { advantages } from "../../src/learn/advantages.js";
import { update } from "../../src/learn/update/learner.js";
import { Policy } from "../../src/policy/policies.js";
import { score } from "../../src/reward/score-trees.js";
import { tinyFolder } from "../serve/tiny-server.js";
import { temporaryFolder } from "../temporary.js";

const python = process.env["ARPO_LAB_AGENTS_PYTHON"];
const npmFolder = process.env["ARPO_LAB_AI_FOLDER"];
const script = (name: string) =>
  fileURLToPath(new URL(`../../../tests/python/${name}`, import.meta.url));
const execute = promisify(execFile);

const modules = "import agents, anthropic, openai";
const noPython =
  python === undefined
    ? "ARPO_LAB_AGENTS_PYTHON names no Python"
    : spawnSync(python, ["-c", modules]).status !== 0 && `${python} cannot ${modules}`;
const packages = ["ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "openai", "@anthropic-ai/sdk"];
const lacking = packages.find((name) => !existsSync(join(npmFolder ?? "", "node_modules", name)));
const noNpm =
  npmFolder === undefined
    ? "ARPO_LAB_AI_FOLDER names no folder"
    : lacking !== undefined && `${npmFolder} has no ${lacking}`;

type Env = Record<string, string>;
const pythonProgram = (args: readonly string[]) => async (env: Env) =>
  execute(python!, [script("wire_program.py"), ...args], { env: { ...process.env, ...env } });

/** Runs wire_program.mjs beside the packages that it imports. */
const npmProgram = (args: readonly string[]) => async (env: Env) => {
  const folder = temporaryFolder("wire");
  symlinkSync(join(npmFolder!, "node_modules"), join(folder, "node_modules"));
  copyFileSync(script("wire_program.mjs"), join(folder, "program.mjs"));
  const given = { env: { ...process.env, ...env } };
  return execute(process.execPath, [join(folder, "program.mjs"), ...args], given);
};

/** A capture server of the tiny model, which samples where `temperature` says so. */
async function tinyCapture(t: TestContext, temperature = 0) {
  const policy = await Policy.load(tinyFolder);
  const server = await capture(policy, { temperature });
  t.after(async () => {
    await server.stop();
    policy.dispose();
  });
  return { policy, server };
}

const pythonNames = [
  "openai",
  "openai-previous",
  "agents",
  "agents-previous",
  "anthropic",
  "anthropic-runner",
];
const npmNames = ["ai-openai", "ai-openai-unstored", "ai-anthropic", "openai-npm", "anthropic-npm"];
const cases = [
  ...pythonNames.map((name) => ({ name, program: pythonProgram, skip: noPython })),
  ...npmNames.map((name) => ({ name, program: npmProgram, skip: noNpm })),
];
for (const { name, program, skip } of cases) {
  for (const way of [[], ["stream"]]) {
    test(
      `${[name, ...way].join(", ")}: one root, one leaf, and each prompt begins with the record before it`,
      { skip },
      async (t) => {
        const { server } = await tinyCapture(t);
        const session = server.session({ task: { id: "sum" } });
        await program([name, ...way])(session.env);
        const { calls, trees } = await server.end(session, 1);
        assert.ok(calls.length >= 2, `${calls.length} calls`);
        calls.slice(1).forEach(({ prompt, rewrite, resumes }, i) => {
          const before = [...calls[i]!.prompt, ...calls[i]!.tokens];
          assert.deepEqual([...prompt.subarray(0, before.length)], before);
          assert.deepEqual([rewrite, resumes], [undefined, undefined]);
        });
        assert.equal(trees.length, 1);
        assert.equal(trees[0]!.trajectories.length, 1);
        assert.equal(trees[0]!.trajectories[0]!.toolCalls[0]!.tag, "python");
      },
    );
  }
}

test(
  "sessions of anthropic's runner and of openai-agents are a tree that update trains on",
  { skip: noPython },
  async (t) => {
    const { policy, server } = await tinyCapture(t, 1);
    for (const name of ["anthropic-runner", "agents"]) {
      for (const reward of [1, 0]) {
        const session = server.session({ group: name, task: { id: name } });
        await pythonProgram([name])(session.env);
        await server.end(session, reward);
      }
      const scored = await score(server.trees(name));
      const { metrics } = await update(policy, advantages(scored), { learningRate: 1e-5 });
      const norm = Object.entries(metrics).find(([key]) => /grad.*norm/i.test(key));
      assert.ok(norm !== undefined && Number(norm[1]) > 0, JSON.stringify(metrics).slice(0, 300));
    }
  },
);
