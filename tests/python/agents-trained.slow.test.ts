// Six agent programs with real packages, rolled out as black boxes: each is captured, branches where it repeats what
// it asked, and is trained on. Needs the Python and the folder of capture.slow.test.ts and dialects.slow.test.ts.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { harnessRollout } from "../../src/interop/capture/harness-rollout.js";
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

const modules = "import agents, anthropic, minisweagent, openai, pydantic_ai";
const noPython =
  python === undefined
    ? "ARPO_LAB_AGENTS_PYTHON names no Python"
    : spawnSync(python, ["-c", modules]).status !== 0 && `${python} cannot ${modules}`;
const noNpm =
  npmFolder === undefined
    ? "ARPO_LAB_AI_FOLDER names no folder"
    : !existsSync(join(npmFolder, "node_modules/ai")) && `${npmFolder} has no ai`;

type Env = Record<string, string>;
const ofPython = (file: string, name: string) => (env: Env, cwd: string) =>
  execute(python!, [script(file), name], { env: { ...process.env, ...env }, cwd });

/** Runs ai_program.mjs beside the packages that it imports. */
const ofAi = (env: Env, cwd: string) => {
  const program = join(cwd, "program.mjs");
  if (!existsSync(program)) {
    symlinkSync(join(npmFolder!, "node_modules"), join(cwd, "node_modules"));
    copyFileSync(script("ai_program.mjs"), program);
  }
  return execute(process.execPath, [program], { env: { ...process.env, ...env }, cwd });
};

/** The tiny model with room for a long prompt: mini-swe-agent's instructions are thousands of its tokens. */
function longTiny(): string {
  const folder = temporaryFolder("long-tiny");
  cpSync(tinyFolder, folder, { recursive: true });
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as object;
  const long = { ...config, max_position_embeddings: 16_384 };
  writeFileSync(join(folder, "config.json"), JSON.stringify(long));
  return folder;
}

interface Program {
  name: string;
  run: (env: Env, cwd: string) => Promise<unknown>;
  skip: string | false;
  /** Conversations that one run begins. */
  conversations?: number;
  long?: boolean;
}

const programs: Program[] = [
  { name: "openai-agents", run: ofPython("agent_program.py", "openai-agents"), skip: noPython },
  { name: "ai", run: ofAi, skip: noNpm },
  { name: "pydantic-ai", run: ofPython("agent_program.py", "pydantic-ai"), skip: noPython },
  {
    name: "anthropic's runner",
    run: ofPython("wire_program.py", "anthropic-runner"),
    skip: noPython,
  },
  {
    name: "a voter of five samples",
    run: ofPython("agent_program.py", "voter"),
    skip: noPython,
    conversations: 5,
  },
  {
    name: "mini-swe-agent",
    run: ofPython("agent_program.py", "mini-swe-agent"),
    skip: noPython,
    long: true,
  },
];

for (const { name, run, skip, conversations = 1, long = false } of programs) {
  test(`${name}: captured, branched as a black box, and trained on`, { skip }, async (t) => {
    const policy = await Policy.load(long ? longTiny() : tinyFolder);
    t.after(() => policy.dispose());
    const cwd = temporaryFolder("agent");
    const refused: string[] = [];
    const trees = await harnessRollout(
      policy,
      { id: "sum" },
      {
        ...{ n: 4, initialRollouts: 2, branchProbability: 1, from: "token", atOnce: 2, seed: 5 },
        timeoutMs: 200_000,
        run: async (env) => void (await run(env, cwd)),
        onRefused: (reason) => refused.push(reason),
      },
    );
    assert.deepEqual(refused, []);
    const rows = trees.flatMap(({ trajectories }) => trajectories);
    assert.ok(rows.length >= 4 * conversations, `${rows.length} trajectories`);
    assert.ok(rows.some(({ kind }) => kind === "branch"));

    // What is rewarded is any difference between trajectories of one prompt.
    const scored = await score(trees, ({ tree }) => tree!.trajectory % 2);
    const { metrics } = await update(policy, advantages(scored), { learningRate: 1e-5 });
    assert.ok(metrics["actor/grad_norm"]! > 0, JSON.stringify(metrics).slice(0, 300));
    t.diagnostic(
      `${trees.length} trees, ${rows.length} trajectories, gradient ${metrics["actor/grad_norm"]}`,
    );
  });
}
