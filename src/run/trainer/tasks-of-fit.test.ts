import assert from "node:assert/strict";
import { test } from "node:test";
import type { Task } from "../../tasks/task.js";
import { fitPrompt } from "../../tasks/fit-prompt.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { rollout } from "../../rollout/rollout.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { loadConfig } from "../config/load.js";
import { tinyTokenizer } from "../tiny/tiny-tokenizer.js";
import { fitTasks } from "./tasks-of.js";
import { rolloutOptions } from "./options.js";

const tokenizer = new HfTokenizer(tinyTokenizer());
const taskOf = (content: string): Task => ({
  id: content.slice(0, 5),
  prompt: [{ role: "user", content }],
  groundTruth: "1",
  dataSource: "calc",
  extra: {},
});
const tasks = [taskOf("short 1+1"), taskOf(`long ${"12 34 ".repeat(40)}`)];
const configOf = async (...overrides: string[]) =>
  (await loadConfig({ overrides: ["data.max_prompt_length=30", ...overrides] })).config;

test("fitTasks() leaves long prompts out, or names the first of them before the run", async () => {
  const filtered = fitTasks(tasks, tokenizer, await configOf("data.filter_overlong_prompts=true"));
  assert.deepEqual(filtered, { tasks: [tasks[0]], dropped: 1 });
  const strict = await configOf();
  assert.throws(
    () => fitTasks(tasks, tokenizer, strict),
    /Cannot use task long .*at most 30 tokens \(data.max_prompt_length\), got \d+; .*truncation=left/,
  );
  const none = await configOf("data.filter_overlong_prompts=true", "data.max_prompt_length=1");
  assert.throws(() => fitTasks(tasks, tokenizer, none), /in all 2/);
  const cut = await configOf("data.truncation=left");
  assert.equal(fitTasks(tasks, tokenizer, cut).tasks.length, 2);
});

test("rollout() cuts long prompts as data.truncation says and takes short ones whole", async () => {
  const policy = new ScriptedPolicy(() => ({ text: "1\u0001" }));
  const prompt = "abcdefghij".repeat(5);
  const whole = policy.tokenizer.encode(prompt);
  for (const truncation of ["left", "right", "middle"] as const) {
    const options = rolloutOptions(await configOf(`data.truncation=${truncation}`));
    const [short, long] = await rollout(
      policy,
      [
        { prompt: "short", raw: true },
        { prompt, raw: true },
      ],
      options,
    );
    assert.equal(short!.prompt.text, "short");
    assert.deepEqual([...long!.prompt.tokens], fitPrompt(whole, 30, truncation));
    assert.equal(long!.prompt.text, policy.tokenizer.decode(long!.prompt.tokens));
    assert.equal(long!.config.promptLimit?.truncation, truncation);
  }
  const strict = rolloutOptions(await configOf());
  await assert.rejects(
    rollout(policy, [{ prompt, raw: true }], strict),
    /at most 30 tokens, got 50/,
  );
});
