// verifiers reads what `saveTraces` writes, and its training client asks our engine. Needs a Python that has
// verifiers 0.4.0 (ARPO_LAB_VERIFIERS_PYTHON).
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { saveTraces } from "../../src/import/write/save-traces.js";
import { advantages } from "../../src/learn/advantages.js";
import { presets } from "../../src/presets.js";
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
      const found = batch.rows.find(({ trajectory }) => trajectory === row)!;
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
