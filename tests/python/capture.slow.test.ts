// Agent programs with real packages, captured; and OpenEnv's own capture server before our engine, which must record
// the same, and whose records are imported. Needs Pythons that have openai-agents, pydantic-ai and
// mini-swe-agent (ARPO_LAB_AGENTS_PYTHON) and openenv (ARPO_LAB_OPENENV_PYTHON), and a folder in which npm has installed
// `ai` (ARPO_LAB_AI_FOLDER).
import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { capture } from "../../src/interop/capture/capture-server.js";
import { harnessRollout } from "../../src/interop/capture/harness-rollout.js";
import { importRollouts } from "../../src/formats/import-rollouts.js";
import { advantages } from "../../src/learn/advantages.js";
import { update } from "../../src/learn/update/learner.js";
import { Policy } from "../../src/policy/policies.js";
import { score } from "../../src/reward/score-trees.js";
import { explore } from "../../src/view/explorer/explore.js";
import { toHtml } from "../../src/view/export/to-html.js";
import { freePort } from "../free-port.js";
import { serveTiny, tinyFolder } from "../serve/tiny-server.js";
import { temporaryFolder } from "../temporary.js";
import { until } from "../until.js";

const python = process.env["ARPO_LAB_AGENTS_PYTHON"];
const openenv = process.env["ARPO_LAB_OPENENV_PYTHON"];
const npmFolder = process.env["ARPO_LAB_AI_FOLDER"];
const script = (name: string) =>
  fileURLToPath(new URL(`../../../tests/python/${name}`, import.meta.url));
const execute = promisify(execFile);

function missing(path: string | undefined, name: string, modules: string): string | false {
  if (path === undefined) return `${name} names no Python`;
  const { status } = spawnSync(path, ["-c", `import ${modules}`]);
  return status !== 0 && `${path} has no ${modules}`;
}
const noAgents = missing(python, "ARPO_LAB_AGENTS_PYTHON", "agents, pydantic_ai, minisweagent");
const noOpenEnv = missing(openenv, "ARPO_LAB_OPENENV_PYTHON", "openenv");
const noAi =
  (npmFolder === undefined && "ARPO_LAB_AI_FOLDER names no folder") ||
  (!existsSync(join(npmFolder!, "node_modules/ai")) && `${npmFolder} has no ai`);

type Env = Record<string, string>;
/** Runs a program of agent_program.py with a session's environment. */
const agent = (name: string, cwd?: string) => async (env: Env) => {
  const given = { env: { ...process.env, ...env }, ...(cwd ? { cwd } : {}) };
  const { stdout } = await execute(python!, [script("agent_program.py"), name], given);
  return stdout.trim();
};
/** Runs ai_program.mjs beside the packages that it imports. */
async function aiProgram(env: Env): Promise<void> {
  const folder = temporaryFolder("ai");
  symlinkSync(join(npmFolder!, "node_modules"), join(folder, "node_modules"));
  copyFileSync(script("ai_program.mjs"), join(folder, "program.mjs"));
  await execute(process.execPath, [join(folder, "program.mjs")], {
    env: { ...process.env, ...env },
  });
}

/** Runs a program in a session of ours. */
async function captured(t: TestContext, run: (env: Env) => Promise<unknown>, folder = tinyFolder) {
  const policy = await Policy.load(folder);
  const server = await capture(policy);
  t.after(async () => {
    await server.stop();
    policy.dispose();
  });
  const session = server.session({ task: { id: "sum" } });
  await run(session.env);
  return server.end(session, 1);
}

interface OpenEnvRecord {
  session_id: string;
  trainable: boolean;
  sequences: { input_ids: number[]; loss_mask: number[] }[];
}

/** OpenEnv's capture server before our engine: the record of a program's session, and the engine's address. */
async function openEnvCapture(t: TestContext) {
  const { server: engine } = await serveTiny(t);
  const port = await freePort();
  const args = [
    "-m",
    "openenv.core.harness.capture.server",
    "--model",
    "tiny",
    "--port",
    `${port}`,
  ];
  const child = spawn(openenv!, [...args, "--llm-url", engine.url.replace("/v1", "")]);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
  t.after(() => child.kill());
  const origin = `http://127.0.0.1:${port}`;
  const health = () => fetch(`${origin}/health`).catch(() => undefined);
  await until(
    async () => (await health())?.ok === true,
    "OpenEnv's capture server answers",
    240_000,
  );
  assert.match(said, /tokens \(train rollouts\)/);
  const record = async (run: (env: Env) => Promise<unknown>): Promise<OpenEnvRecord> => {
    const headers = { "content-type": "application/json" };
    const made = await fetch(`${origin}/sessions`, { method: "POST", headers, body: "{}" });
    const { session_id: key } = (await made.json()) as { session_id: string };
    await run({
      ...{ OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: key },
      ...{ ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: key },
    });
    const answer = await fetch(`${origin}/sessions/${key}/rollout`);
    return (await answer.json()) as OpenEnvRecord;
  };
  return { record, engine };
}

const programs: [string, (env: Env) => Promise<unknown>, string | false][] = [
  ["openai-agents", agent("openai-agents"), noAgents],
  ["ai, streaming", aiProgram, noAi],
];
for (const [name, run, lacks] of programs) {
  test(
    `${name}: one trajectory, whose ids are those of OpenEnv's own capture server`,
    { skip: lacks || noOpenEnv },
    async (t) => {
      const { trees, calls } = await captured(t, run);
      assert.ok(calls.length >= 2 && calls.every(({ rewrite }) => rewrite === undefined));
      assert.equal(trees.length, 1);
      assert.equal(trees[0]!.trajectories.length, 1);
      const [row] = trees[0]!.trajectories;
      assert.equal(row!.toolCalls[0]!.tag, "python");
      assert.ok(row!.entropies.some((entropy) => entropy > 0));

      const { record } = await openEnvCapture(t);
      const { sequences } = await record(run);
      assert.equal(sequences.length, 1);
      assert.deepEqual(sequences[0]!.input_ids, [...row!.prompt, ...row!.tokens]);
      assert.deepEqual(sequences[0]!.loss_mask.slice(row!.prompt.length), [...row!.lossMask]);
    },
  );
}

for (const name of ["openai-agents-responses", "pydantic-ai-anthropic"]) {
  test(
    `${name}, through OpenEnv's capture server: ids of our engine, opened as a tree`,
    { skip: noAgents || noOpenEnv },
    async (t) => {
      const { record, engine } = await openEnvCapture(t);
      const said = await record(agent(name));
      assert.ok(said.trainable);
      const [sequence] = said.sequences;
      const { input_ids: ids, loss_mask: mask } = sequence!;
      // Each span that counts is what the engine writes behind what stands before it.
      for (let [at, to] = [0, 0]; at < ids.length; at = to) {
        while (to < ids.length && mask[to] === mask[at]) to++;
        if (mask[at] === 0) continue;
        const response = await fetch(`${engine.url}/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            ...{ model: "tiny", prompt: ids.slice(0, at), max_tokens: to - at },
            ...{ temperature: 0, return_token_ids: true },
          }),
        });
        const { choices } = (await response.json()) as { choices: { token_ids: number[] }[] };
        assert.deepEqual(ids.slice(at, to), choices[0]!.token_ids);
      }
      const file = join(temporaryFolder("record"), "record.json");
      writeFileSync(file, JSON.stringify(said));
      const imported = await importRollouts(file);
      assert.equal(imported.format, "openenv-capture");
      const [row] = imported.tree(0).trajectories;
      assert.deepEqual([...row!.prompt, ...row!.tokens], ids);
    },
  );
}

test(
  "openai-agents: sessions of a group are a tree that the explorer opens and update trains on",
  { skip: noAgents },
  async (t) => {
    const policy = await Policy.load(tinyFolder);
    const server = await capture(policy, { temperature: 1, seed: 3 });
    t.after(async () => {
      await server.stop();
      policy.dispose();
    });
    for (const reward of [1, 0]) {
      const session = server.session({ group: "sum", task: { id: "sum" } });
      await agent("openai-agents")(session.env);
      await server.end(session, reward);
    }
    const [tree, ...others] = server.trees("sum");
    assert.deepEqual([others.length, tree!.trajectories.length], [0, 2]);
    const scored = await score([tree!]);
    assert.match(toHtml(explore(tree!, { scored })), /<html[^]*What is 12/i);
    const [good] = tree!.trajectories;
    const asked = [{ prompt: good!.prompt, tokens: good!.tokens }];
    const written = async () => {
      const [found] = await policy.logProbs!(asked);
      return found!.logprobs.reduce((sum, ln, i) => sum + (good!.lossMask[i] ? ln : 0), 0);
    };
    const before = await written();
    await update(policy, advantages(scored), { learningRate: 1e-4 });
    assert.ok((await written()) > before, "what was rewarded has become more likely");
  },
);

test("docs/capture-responses.md: its session runs as it stands", { skip: noAgents }, async () => {
  const folder = temporaryFolder("responses-page");
  for (const name of ["node_modules", "data"]) {
    symlinkSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), join(folder, name));
  }
  const page = readFileSync("docs/capture-responses.md", "utf8");
  const block = (head: string) => page.split(`\`\`\`${head}\n`)[1]!.split("```")[0]!;
  writeFileSync(join(folder, "agent.py"), block("py agent.py"));
  const lab = fileURLToPath(new URL("../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));
  const session = block("sh session")
    .replaceAll("arpo-lab ", `${process.execPath} ${lab} `)
    .replace("-- python", `-- ${python}`);
  const { stdout } = await execute("bash", ["-ec", session], { cwd: folder });
  assert.match(stdout, /trees\.jsonl: 1 tree, 1 trajectory/);
  assert.match(readFileSync(join(folder, "page.html"), "utf8"), /<html/i);
});

test(
  "mini-swe-agent: its session becomes trajectories, and what it leaves out of a prompt is a fork",
  { skip: noAgents },
  async (t) => {
    const folder = temporaryFolder("long-tiny");
    cpSync(tinyFolder, folder, { recursive: true });
    const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as object;
    // Its instructions are thousands of the tiny model's tokens.
    const long = { ...config, max_position_embeddings: 16384 };
    writeFileSync(join(folder, "config.json"), JSON.stringify(long));
    const work = temporaryFolder("swe");
    const { calls, trees } = await captured(t, agent("mini-swe-agent", work), folder);
    assert.ok(calls.length >= 2, `${calls.length} calls`);
    const rows = trees.flatMap(({ trajectories }) => trajectories);
    assert.ok(rows.length >= 1 && rows.every(({ outcome }) => outcome?.score === 1));
    const sampled = calls.reduce((sum, { tokens }) => sum + tokens.length, 0);
    const trained = trees.reduce(
      (sum, { nodes }) =>
        sum +
        nodes.reduce((own, { kind, tokens }) => own + (kind === "model" ? tokens.length : 0), 0),
      0,
    );
    assert.equal(trained, sampled, "what the model wrote is trained on once");
  },
);

test(
  "pydantic-ai moves white space around <think>: it stays one conversation, and what the model wrote trains once",
  { skip: noAgents },
  async (t) => {
    const { calls, trees } = await captured(t, agent("pydantic-ai"));
    const [first, second] = calls;
    assert.deepEqual([second!.parent, second!.rewrite], [0, undefined]);
    const { length } = first!.prompt;
    assert.equal(second!.resumes! > length, true, "its prompt is resumed behind the first answer");
    const sent = second!.prompt.subarray(length, second!.resumes);
    assert.notDeepEqual(
      [...sent],
      [...first!.tokens],
      "the ids that came back are not those that were sampled",
    );
    const [tree] = trees;
    assert.equal(tree!.trajectories.length, 1);
    const { tokens, lossMask } = tree!.trajectories[0]!;
    assert.deepEqual([...tokens.subarray(0, first!.tokens.length)], [...first!.tokens]);
    assert.ok(lossMask.subarray(0, first!.tokens.length).every((one) => one === 1));
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
        run: async (env) => Number((await agent("openai-agents")(env)).includes("41")),
        onRefused: (reason) => refused.push(reason),
      },
    );
    assert.deepEqual(refused, []);
    assert.ok(tree!.trajectories.length >= 4);
    assert.ok(tree!.trajectories.some(({ kind }) => kind === "branch"));
  },
);
