import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Evaluation, RolloutTree } from "../src/api/index.js";
import { evaluate, rollout, tasks } from "../src/api/index.js";
import { importModule } from "../src/base/modules/import-module.js";
import type { TaskEvaluation } from "../src/api/run.js";
import type { Generation, ModelPolicy } from "../src/api/policy.js";

// What a person who has read the README once writes from memory, in plain JavaScript.
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-snippets-"));
after(() => rmSync(folder, { recursive: true }));
const saved = join(folder, "my-model");

const policy = 'const policy = await Policy.load("data/models/tiny");';
const calculator = `const tool = {
  name: "calculator",
  tag: "python",
  description: "Computes a sum.",
  execute: (input) => String(Function("return " + input)()),
};`;

/** Snippets that work, and what their `result` must be. */
const works: Record<string, [code: string, check: (result: never) => void]> = {
  "a question is rolled out": [
    `import { Policy, rollout } from "arpo-lab";
     ${policy}
     export const result = await rollout(policy, "What is 3+4?");`,
    (tree: RolloutTree) => {
      assert.equal(tree.trajectories.length, 1);
      assert.deepEqual(tree.task.prompt, [{ role: "user", content: "What is 3+4?" }]);
    },
  ],
  "a chat is rolled out": [
    `import { Policy, rollout } from "arpo-lab";
     ${policy}
     const chat = [{ role: "user", content: "What is 3+4?" }];
     export const result = [await rollout(policy, chat), await rollout(policy, "What is 3+4?")];`,
    ([one, other]: RolloutTree[]) =>
      assert.deepEqual(one!.nodes[0]!.tokens, other!.nodes[0]!.tokens),
  ],
  "a list of questions gives a tree each": [
    `import { Policy, rollout } from "arpo-lab";
     ${policy}
     export const result = await rollout(policy, ["What is 3+4?", "What is 5*6?"], { n: 2 });`,
    (trees: RolloutTree[]) =>
      assert.deepEqual(
        trees.map(({ trajectories }) => trajectories.length),
        [2, 2],
      ),
  ],
  "a preset by its name": [
    `import { Policy, presets, rollout } from "arpo-lab";
     ${policy}
     const tree = await rollout(policy, "What is 3+4?", { preset: "arpo", seed: 1 });
     export const result = [tree.config, presets.arpo];`,
    ([config, preset]: [RolloutTree["config"], Record<string, number>]) => {
      assert.deepEqual([config.n, config.initialRollouts, config.callLimit], [16, 8, 3]);
      assert.equal(config.entropyWeight, preset["entropyWeight"]);
    },
  ],
  "an option beside a preset overrides it": [
    `import { Policy, rollout } from "arpo-lab";
     ${policy}
     const how = { preset: "aepo", n: 4, entropyWeight: 0.7, responseLength: 16 };
     export const result = (await rollout(policy, "What is 3+4?", how)).config;`,
    ({ n, initialRollouts, rule, entropyWeight }: RolloutTree["config"]) =>
      // The start keeps its share of n.
      assert.deepEqual([n, initialRollouts, rule, entropyWeight], [4, 2, "aepo-code", 0.7]),
  ],
  "tools are a list": [
    `import { Policy, rollout } from "arpo-lab";
     ${policy}
     ${calculator}
     export const result = await rollout(policy, "What is 12 + 30?", { tools: [tool], n: 4 });`,
    (tree: RolloutTree) => {
      assert.deepEqual(tree.config.tools, ["python"]);
      assert.ok(tree.nodes.some(({ tool }) => tool?.ok));
    },
  ],
  "an empty list is no tools": [
    `import { Policy, rollout } from "arpo-lab";
     ${policy}
     export const result = await rollout(policy, "What is 12 + 30?", { preset: "arpo", tools: [], n: 2 });`,
    (tree: RolloutTree) => assert.ok(tree.nodes.every(({ tool }) => tool === undefined)),
  ],
  "a tree that was made with a list of tools is forked": [
    `import { Policy, rollout } from "arpo-lab";
     ${policy}
     ${calculator}
     const tree = await rollout(policy, "What is 12 + 30?", { tools: [tool], n: 2 });
     export const result = await tree.fork(0, { n: 2, seed: 5 });`,
    (tree: RolloutTree) => assert.equal(tree.trajectories.length, 2),
  ],
  "text from a question": [
    `import { Policy } from "arpo-lab";
     ${policy}
     export const result = await policy.generate("What is 3+4?", { maxTokens: 12, temperature: 0 });`,
    (answer: Generation) => {
      assert.match(answer.text, /^<think>/);
      assert.match(answer.prompt, /What is 3\+4\?/);
      assert.equal(answer.finish, "length");
      for (const list of [answer.tokens, answer.logprobs, answer.entropies]) {
        assert.equal(list.length, 12);
      }
    },
  ],
  "several answers, a stop text, a seed": [
    `import { Policy } from "arpo-lab";
     ${policy}
     const ask = (seed) => policy.generate("What is 3+4?", { n: 3, stop: "</think>", seed });
     export const result = [await ask(1), await ask(1), await ask(2)];`,
    ([first, again, other]: Generation[][]) => {
      assert.equal(first!.length, 3);
      assert.ok(first!.every(({ text, stop }) => stop === undefined || text.endsWith("</think>")));
      assert.ok(first!.some(({ finish }) => finish === "stop"));
      assert.deepEqual(again, first);
      assert.notDeepEqual(other, first);
    },
  ],
  "answers to a chat, to text as it is, and to a list": [
    `import { Policy } from "arpo-lab";
     ${policy}
     const options = { maxTokens: 8, temperature: 0 };
     const chat = [{ role: "user", content: "What is 3+4?" }];
     const asked = await policy.generate(chat, options);
     const raw = await policy.generate({ prompt: "What is 3+4?", raw: true }, options);
     const list = await policy.generate(["What is 3+4?", "What is 5*6?"], options);
     export const result = [asked, raw, ...list];`,
    ([asked, raw, first, second]: Generation[]) => {
      assert.equal(asked!.text, first!.text);
      assert.equal(raw!.prompt, "What is 3+4?");
      assert.notEqual(first!.prompt, second!.prompt);
    },
  ],
  "a policy is saved and loaded again": [
    `import { Policy } from "arpo-lab";
     ${policy}
     await policy.save(${JSON.stringify(saved)});
     const again = await Policy.load(${JSON.stringify(saved)});
     const ask = (one) => one.generate("What is 3+4?", { maxTokens: 20 });
     export const result = [await ask(policy), await ask(again)];`,
    ([before, now]: Generation[]) => assert.deepEqual(now, before),
  ],
  "a policy is saved as one file for llama.cpp": [
    `import { Policy } from "arpo-lab";
     ${policy}
     await policy.save(${JSON.stringify(`${saved}.gguf`)});
     const again = await Policy.load(${JSON.stringify(`${saved}.gguf`)});
     export const result = await again.generate("What is 3+4?", { maxTokens: 8, temperature: 0 });`,
    ({ text }: Generation) => assert.match(text, /^<think>/),
  ],
  "a policy is evaluated on tasks": [
    `import { evaluate, Policy, tasks, taskTools, world } from "arpo-lab";
     ${policy}
     const { test } = tasks.calc({ seed: 7, train: 1, test: 8 });
     const tools = taskTools(world);
     export const result = await evaluate(policy, test, { tools });
     await tools.dispose();`,
    (evaluation: TaskEvaluation) => {
      const { mean, interval, results } = evaluation;
      assert.equal(results.length, 8);
      assert.equal(mean, results.reduce((sum, { score }) => sum + score, 0) / 8);
      assert.ok(mean > 0 && interval.low < mean && mean < interval.high);
      assert.ok(results.every(({ task, response }) => task.id && response.includes("</python>")));
      const shown = (evaluation as unknown as Record<symbol, () => Record<string, string>>)[
        Symbol.for("Jupyter.display")
      ]!();
      assert.match(shown["text/html"]!, /tiny on 8 tasks: mean score \d/);
    },
  ],
  "an evaluation with a reward of one's own": [
    `import { evaluate, Policy } from "arpo-lab";
     ${policy}
     const tasks = [{ prompt: "What is 3+4?" }, { prompt: "What is 5*6?" }];
     const reward = ({ response }) => Number(response.includes("</python>"));
     export const result = await evaluate(policy, tasks, { reward, samples: 3, responseLength: 32 });`,
    ({ results }: TaskEvaluation) => assert.equal(results.length, 6),
  ],
  "demonstrations of a family, and fine-tuning on them": [
    `import { demonstrations, fineTune, Policy, tasks } from "arpo-lab";
     ${policy}
     const demos = await demonstrations(tasks.calc({ train: 4, test: 1 }), { count: 6 });
     const report = await fineTune(policy, demos, { epochs: 1 });
     export const result = [demos, await demonstrations(tasks.calc({ train: 4, test: 1 }).train), report];`,
    ([demos, listed]: [{ task: { id: string } }[], unknown[], unknown]) => {
      assert.equal(demos.length, 6);
      assert.equal(demos[4]!.task.id, demos[0]!.task.id);
      assert.deepEqual(listed, demos.slice(0, 4));
    },
  ],
  "a task without a right answer, scored by a function": [
    `import { advantages, Policy, rollout, score, update } from "arpo-lab";
     ${policy}
     const tree = await rollout(policy, { prompt: "What is 3+4?" }, { n: 4, responseLength: 24 });
     const scored = await score(tree, ({ response }) => response.length);
     const report = await update(policy, advantages(scored), { learningRate: 1e-4 });
     export const result = [scored.mean, report.metrics["actor/lr"]];`,
    ([mean, rate]: number[]) => assert.ok(mean! > 0 && rate === 1e-4),
  ],
  "the README's loop, presets by name all the way": [
    `import { advantages, Policy, rollout, score, tasks, update } from "arpo-lab";
     ${policy}
     ${calculator}
     const task = tasks.calc({ seed: 7, train: 1, test: 1 }).train[0];
     const tree = await rollout(policy, task, { preset: "arpo", tools: [tool], n: 8, seed: 1 });
     const batch = advantages(await score(tree), { preset: "arpo" });
     const report = await update(policy, batch, { preset: "aepo", learningRate: 1e-5 });
     export const result = [tree, batch, report];`,
    ([tree, batch, report]: [
      RolloutTree,
      { estimator: string },
      { options: Record<string, unknown> },
    ]) => {
      assert.equal(tree.trajectories.length, 8);
      assert.equal(batch.estimator, "grpo");
      assert.equal(report.options["entropyBalancedClipping"], true);
      assert.equal(report.options["learningRate"], 1e-5);
    },
  ],
  "training on a list of tasks with a list of tools": [
    `import { Policy, tasks, trainOn } from "arpo-lab";
     ${policy}
     ${calculator}
     const { train } = tasks.calc({ seed: 7, train: 4, test: 1 });
     const how = { preset: "arpo", steps: 1, prompts: 2, n: 4, tools: [tool], live: false };
     export const result = (await trainOn(policy, train, how)).steps;`,
    (steps: unknown[]) => assert.equal(steps.length, 1),
  ],
};

/** Near-misses, and what they are told. */
const teaches: Record<string, [code: string, message: RegExp]> = {
  "a preset that is mistyped": [
    `rollout(policy, "What is 3+4?", { preset: "apro" })`,
    /^Cannot roll out: preset must be one of grpo, arpo, aepo, .*, got "apro"; did you mean "arpo"\?$/,
  ],
  "a preset that is mistyped in an update": [
    `update(policy, advantages(await score(await rollout(policy, "a", { responseLength: 8 }), () => 1)), { preset: "aeop" })`,
    /^Cannot update: preset must be one of grpo, .*, got "aeop"; did you mean "aepo"\?$/,
  ],
  "the table's entry in place of its name": [
    `rollout(policy, "What is 3+4?", { preset: presets.arpo })`,
    /^Cannot roll out: preset must be one of grpo, .*, got an object$/,
  ],
  "one tool that is no list": [
    `rollout(policy, "What is 3+4?", { tools: tool })`,
    /^Cannot roll out: tools must be a list of tools or a ToolSet, got one tool; write tools: \[tool\]$/,
  ],
  "a tool without what a tool has": [
    `rollout(policy, "What is 3+4?", { tools: [{ name: "calculator" }] })`,
    /^Cannot roll out: tools must be a list of tools \(\{ name, tag, description, execute \}\), got an object in it: tools\[0\] \(calculator\): tag must be text, got undefined, execute must be a function, got undefined$/,
  ],
  "the policy in the second place": [
    `rollout("What is 3+4?", policy)`,
    /^Cannot roll out: the policy comes first and the task second, got "What is 3\+4\?" first; write rollout\(policy, task\)$/,
  ],
  "a policy that was not awaited": [
    `rollout(Policy.load("data/models/tiny"), "What is 3+4?")`,
    /^Cannot roll out: policy must be a policy, got a Promise \(await it first\)$/,
  ],
  "a family that was not called": [
    `rollout(policy, tasks.calc)`,
    /^Cannot roll out: the task must be a value; call the function that makes it first, got a function$/,
  ],
  "a set in place of its tasks": [
    `rollout(policy, tasks.calc())`,
    /^Cannot roll out: .* choose from the set's train or test, got an object$/,
  ],
  "a number as text": [
    `rollout(policy, "What is 3+4?", { n: "8" })`,
    /^Cannot roll out: n must be an integer of at least 1, got "8"$/,
  ],
  "no prompt to generate from": [
    `policy.generate()`,
    /^Cannot generate: a prompt must be given \(text, a chat, or a list of them\), got none$/,
  ],
  "no answers": [
    `policy.generate("What is 3+4?", { n: 0 })`,
    /^Cannot generate: n must be an integer of at least 1, got 0$/,
  ],
  "a score without a right answer": [
    `score(await rollout(policy, "What is 3+4?", { responseLength: 8 }))`,
    /^Cannot score: a task must have a groundTruth unless a reward function is given, got neither for task 0; a reward is \(\{ response \}\) => number$/,
  ],
  "an evaluation without a right answer": [
    `evaluate(policy, [{ prompt: "What is 3+4?" }], { responseLength: 8 })`,
    /^Cannot score: a task must have a groundTruth unless a reward function is given/,
  ],
  "training without a right answer": [
    `trainOn(policy, [{ id: "a", prompt: [{ role: "user", content: "hm" }] }])`,
    /^Cannot train: a task must have a groundTruth unless a reward function is given, got neither for task a;/,
  ],
  "an evaluation on a set": [
    `evaluate(policy, tasks.calc())`,
    /^Cannot evaluate: tasks must be a list of tasks, got a set of tasks; choose its test or train$/,
  ],
  "an evaluation with rollout's word for samples": [
    `evaluate(policy, tasks.calc().test, { n: 4 })`,
    /^Cannot evaluate: every option must be known, got n; did you mean samples\?$/,
  ],
  "a benchmark that is mistyped": [
    `evaluate(policy, "gsm8")`,
    /^Cannot find a benchmark: the name must be one of .*, got gsm8; did you mean gsm8k\?$/,
  ],
  "demonstrations of all families at once": [
    `demonstrations(tasks, { count: 2 })`,
    /^Cannot make demonstrations: tasks must be a set of tasks \(tasks\.calc\(\)\) or a list of tasks, got an object$/,
  ],
  "demonstrations of tasks that nobody can solve": [
    `demonstrations([{ prompt: "hm", dataSource: "mine" }])`,
    /^Cannot make demonstrations: tasks must be a set with an expert, or a list of one family's tasks \(calc, lookup, multihop, mixed\), got tasks of "mine"$/,
  ],
  "an evaluation with a mistyped option": [
    `evaluate(policy, tasks.calc().test, { sample: 4 })`,
    /^Cannot evaluate: every option must be known, got sample; did you mean samples\?$/,
  ],
  "training with a preset that is mistyped": [
    `trainOn(policy, tasks.calc(), { preset: "apro" })`,
    /^Cannot train: preset must be one of grpo, arpo, aepo, .*, got "apro"; did you mean "arpo"\?$/,
  ],
  "training with a mistyped option": [
    `trainOn(policy, tasks.calc(), { step: 3 })`,
    /^Cannot train: every option must be known, got step; did you mean steps\?$/,
  ],
  "training with a number as text": [
    `trainOn(policy, tasks.calc(), { n: "8" })`,
    /^Cannot train: n must be an integer of at least 1, got "8"$/,
  ],
  "a prompt that is a number": [
    `policy.generate(7)`,
    /^Cannot generate: the prompt must be a question \(text\), a chat or \{ prompt \}, got 7$/,
  ],
  "a chat without content": [
    `policy.generate([[{ role: "user" }]])`,
    /^Cannot generate: a chat must be a list of messages with role and content, got a list$/,
  ],
  "an option in another library's spelling": [
    `policy.generate("What is 3+4?", { max_tokens: 8 })`,
    /^Cannot generate: every option must be known, got max_tokens; did you mean maxTokens\?$/,
  ],
  "a path that is none": [
    `policy.save()`,
    /^Cannot save a policy: path must be a path, got undefined$/,
  ],
};

let files = 0;
async function run(code: string): Promise<unknown> {
  const path = join(folder, `snippet-${files++}.mjs`);
  writeFileSync(path, code);
  return (await importModule(pathToFileURL(path).href))["result"];
}

for (const [name, [code, check]] of Object.entries(works)) {
  test(name, async () => {
    check((await run(code)) as never);
  });
}

for (const [name, [code, message]] of Object.entries(teaches)) {
  test(`${name} is told what to write`, async () => {
    const names =
      "advantages, demonstrations, evaluate, Policy, presets, rollout, score, tasks, trainOn, update";
    const snippet = `import { ${names} } from "arpo-lab";\n${policy}\n${calculator}\nexport const result = await ${code};`;
    await assert.rejects(run(snippet), (error: Error) => {
      assert.match(error.message, message);
      return true;
    });
  });
}

/** Types follow: compiled, never run. */
export async function typed(model: ModelPolicy): Promise<void> {
  const one: Generation = await model.generate("What is 3+4?");
  const several: Generation[] = await model.generate("What is 3+4?", { n: 2 });
  const each: Generation[] = await model.generate(["a", "b"]);
  const all: Generation[][] = await model.generate(["a", "b"], { n: 2 });
  const chat: Generation = await model.generate([{ role: "user", content: "a" }]);
  const { train } = tasks.calc();
  const tree: RolloutTree = await rollout(model, "a", { preset: "arpo", tools: [] });
  const truths = (await rollout(model, train)).map(({ task }) => task.groundTruth);
  const onTasks: TaskEvaluation = await evaluate(model, train);
  const onBenchmarks: Evaluation = await evaluate(model, ["gsm8k"]);
  // @ts-expect-error: there is no such preset
  await rollout(model, "a", { preset: "apro" });
  // @ts-expect-error: n is a number
  await rollout(model, "a", { n: "8" });
  // @ts-expect-error: tools are a list
  await rollout(model, "a", { tools: { name: "a", tag: "a", description: "", execute: () => "" } });
  // @ts-expect-error: there is no prompt
  await model.generate();
  void [one, several, each, all, chat, tree, truths, onTasks, onBenchmarks];
}
