// verifiers reads what `saveTraces` writes, its training client asks our engine, and `vf-eval` runs against `serve`
// with both clients. Needs a Python that has verifiers 0.4.0 and uv (ARPO_LAB_VERIFIERS_PYTHON).
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { importRollouts } from "../../src/formats/import-rollouts.js";
import { saveTraces } from "../../src/formats/write/save-traces.js";
import { advantages } from "../../src/learn/advantages.js";
import { presets } from "../../src/run/presets.js";
import { score } from "../../src/reward/score-trees.js";
import { rollout } from "../../src/rollout/rollout.js";
import { randomTextPolicy } from "../../src/rollout/testing/random-text-policy.js";
import { calculator } from "../../src/tools/calculator/calculator.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import { serveTiny, tinyFolder } from "../serve/tiny-server.js";
import { temporaryFolder } from "../temporary.js";

const python = process.env["ARPO_LAB_VERIFIERS_PYTHON"];
const script = (name: string) =>
  fileURLToPath(new URL(`../../../tests/python/${name}`, import.meta.url));
const run = promisify(execFile);

function missing(): string | false {
  if (python === undefined) return "ARPO_LAB_VERIFIERS_PYTHON names no Python";
  const { status } = spawnSync(python, ["-c", "import verifiers.v1"]);
  return status !== 0 && `${python} has no verifiers`;
}

interface Branch {
  ids: number[];
  mask: boolean[];
  logprobs: number[];
  entropies: number[];
  advantages: number[];
  reward: number;
}

test(
  "verifiers validates saved traces; its branches are the rows",
  { skip: missing() },
  async () => {
    const path = join(temporaryFolder("traces"), "traces.jsonl");
    const options = {
      ...presets.arpo,
      tools: new ToolSet([calculator()]),
      n: 6,
      initialRollouts: 3,
      seed: 3,
    };
    const trees = await rollout(
      randomTextPolicy(),
      [{ prompt: "6*7?" }, { prompt: "1+1?" }],
      options,
    );
    const batch = advantages(await score(trees, ({ length }) => length));
    await saveTraces(trees, path, { batch });
    const { stdout } = await run(python!, [script("check_traces.py"), path], {
      maxBuffer: 2 ** 26,
    });
    const branches = JSON.parse(stdout) as Branch[];
    const rows = trees.flatMap(({ trajectories }) => trajectories);
    assert.equal(branches.length, rows.length);
    for (const [i, row] of rows.entries()) {
      const { ids, mask, logprobs, entropies, advantages: given, reward } = branches[i]!;
      assert.deepEqual(ids, [...row.prompt, ...row.tokens]);
      assert.equal(reward, row.tokens.length);
      const found = batch.trajectories.find(({ trajectory }) => trajectory === row)!;
      row.tokens.forEach((_, t) => {
        const at = row.prompt.length + t;
        assert.equal(mask[at], !Number.isNaN(row.logprobs[t]));
        if (!mask[at]) return;
        assert.equal(logprobs[at], row.logprobs[t]);
        assert.equal(entropies[at], row.entropies[t]);
        assert.equal(given[at], found.advantages[t]);
      });
    }
  },
);

test(
  "verifiers' training client gets from /inference/v1/generate what a completion gives",
  { skip: missing() },
  async (t) => {
    const { server } = await serveTiny(t);
    const origin = server.url.replace("/v1", "");
    const { stdout } = await run(python!, [script("check_generate.py"), origin, tinyFolder]);
    const said = JSON.parse(stdout) as {
      prompt_ids: number[];
      completion_ids: number[];
      completion_logprobs: number[];
      finish_reason: string;
    };
    const response = await fetch(`${server.url}/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        ...{ model: "tiny", prompt: said.prompt_ids, max_tokens: 40, seed: 7, logprobs: 1 },
        return_token_ids: true,
      }),
    });
    const { choices } = (await response.json()) as {
      choices: { token_ids: number[]; logprobs: { token_logprobs: number[] } }[];
    };
    assert.deepEqual(said.completion_ids, choices[0]!.token_ids);
    assert.deepEqual(said.completion_logprobs, choices[0]!.logprobs.token_logprobs);
  },
);

interface Episode {
  ok: boolean;
  traces: {
    rewards: { reward: { score: number } };
    nodes: { token_ids: number[]; mask: boolean[]; logprobs: number[] }[];
  }[];
}

/** `vf-eval` of two tasks, each asked twice, against an engine; the file that it writes. */
async function evaluated(origin: string, client: readonly string[]): Promise<string> {
  const folder = temporaryFolder("vf-eval");
  cpSync(script("sums_v1"), join(folder, "sums_v1"), { recursive: true });
  const bin = dirname(python!);
  const named = ["--run.dir", "run", "-o", join(folder, "out"), "--no-push", "--no-rich"];
  const asked = ["-n", "2", "-r", "2", "-m", "tiny", "--env.agent.sampling.temperature", "0"];
  // Its harness is a program that uv starts.
  const agent = ["--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess"];
  const page = readFileSync("docs/verifiers.md", "utf8");
  for (const flag of [
    "--no-push --no-rich",
    agent.join(" "),
    ...client.filter((one) => one[0] === "-"),
  ]) {
    assert.ok(page.includes(flag), `the page has ${flag}`);
  }
  const where = ["--client.base-url", `${origin}/v1`, "--client.api-key-var", "KEY", ...client];
  await run(join(bin, "vf-eval"), ["sums-v1", ...asked, ...named, ...agent, ...where], {
    cwd: folder,
    maxBuffer: 2 ** 26,
    env: { ...process.env, KEY: "none", PYTHONPATH: folder, PATH: `${bin}:${process.env["PATH"]}` },
  });
  return join(folder, "out/run/traces.jsonl");
}
const episodesIn = (path: string) =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Episode);

test(
  "vf-eval with its evaluation client: every rollout is answered and scored, and opens as trees",
  { skip: missing() },
  async (t) => {
    const { server } = await serveTiny(t);
    const path = await evaluated(server.url.replace("/v1", ""), []);
    const episodes = episodesIn(path);
    assert.equal(episodes.flatMap(({ traces }) => traces).length, 4);
    assert.ok(episodes.every(({ ok }) => ok));
    const imported = await importRollouts(path);
    assert.deepEqual([imported.format, imported.trees.length], ["verifiers-traces", 2]);
    assert.match(String(imported), /4 trajectories of 2 prompts/);
  },
);

test(
  "vf-eval with its training client: the ids in its traces are those that the engine gives",
  { skip: missing() },
  async (t) => {
    const { server } = await serveTiny(t);
    const renderer = ["--client.renderer.name", "default"];
    const path = await evaluated(server.url.replace("/v1", ""), [
      ...["--client.type", "train", ...renderer, "--client.renderer-model-name", tinyFolder],
    ]);
    const traces = episodesIn(path).flatMap((episode) => episode.traces);
    assert.equal(traces.length, 4);
    for (const { nodes } of traces) {
      const ids = nodes.flatMap(({ token_ids: some }) => some);
      const first = nodes.flatMap(({ mask }) => mask).indexOf(true);
      const response = await fetch(`${server.url}/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          ...{ model: "tiny", prompt: ids.slice(0, first), max_tokens: ids.length - first },
          ...{ temperature: 0, logprobs: 1, return_token_ids: true },
        }),
      });
      const { choices } = (await response.json()) as {
        choices: { token_ids: number[]; logprobs: { token_logprobs: number[] } }[];
      };
      assert.deepEqual(ids.slice(first), choices[0]!.token_ids);
      for (const [i, logprob] of nodes.flatMap(({ logprobs }) => logprobs).entries()) {
        // Its records are rounded to four digits.
        assert.ok(Math.abs(logprob - choices[0]!.logprobs.token_logprobs[i]!) < 1e-3);
      }
    }
    const imported = await importRollouts(path);
    assert.match(String(imported), /tokens +ids in the file/);
  },
);
