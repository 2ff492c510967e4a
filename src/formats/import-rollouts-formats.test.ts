import assert from "node:assert/strict";
import { test } from "node:test";
import { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import { modelFolder } from "../model/files/model-folder.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import { importRollouts } from "./import-rollouts.js";
import type { ImportedRollouts } from "./imported-rollouts.js";

const fixtures = "tests/fixtures/rollouts"; // made by tools/fixtures/make_rollouts.py
const tokenizer = await HfTokenizer.load(modelFolder("data/models/tiny"));

/** Nodes in a line each: parent, who wrote it, its text. */
const shape = ({ nodes }: Pick<RolloutTree, "nodes">) =>
  nodes.map(({ parent, kind, text }) => `${parent} ${kind} ${text}`);

const from = (imported: ImportedRollouts, quantity: string) =>
  imported.carried.find((one) => one.quantity === quantity);

const texts = (imported: ImportedRollouts, index = 0) =>
  imported.tree(index).selected.map(({ text }) => text);

for (const [version, step] of [
  ["0.4.1", 1],
  ["0.6.1", 2],
  ["0.9.1", 3],
] as const) {
  test(`importRollouts() reads the rollout_data_dir of verl ${version}`, async () => {
    const imported = await importRollouts(`${fixtures}/verl/${version}`);
    assert.equal(imported.format, "verl");
    assert.deepEqual(
      imported.prompts.map(({ step, scores }) => [step, ...scores]),
      // A NaN, which JSON has no word for, is a trajectory without a score.
      [
        [step, 1, 0, 1],
        [step, 1],
      ],
    );
    const [peru, sums] = imported.trees;
    const call =
      '<tool_call>\n{"name": "search", "arguments": {"query": "capital of Peru"}}\n</tool_call>';
    const found =
      "\nuser\n<tool_response>\nLima is the capital of Peru.\n</tool_response>\nassistant\n";
    assert.deepEqual(shape(peru!), [
      "-1 model I",
      `0 model  should look that up.\n${call}`,
      `1 tool ${found}`,
      "2 model It is Lima.",
      "2 model The capital is Cuzco.",
      "0 model  know: Lima.",
    ]);
    const { tool } = peru!.nodes[2]!;
    assert.deepEqual(
      [tool!.tag, tool!.input, tool!.text],
      ["search", '{"query":"capital of Peru"}', "Lima is the capital of Peru."],
    );
    assert.deepEqual(
      peru!.trajectories.map(({ from, leaf, calls }) => [from, leaf, calls]),
      [
        [-1, 3, 1],
        [2, 4, 1],
        [0, 5, 0],
      ],
    );
    assert.deepEqual(texts(imported, 1)[1], "It is 54 — no, 42. 🙂");
    assert.equal(sums!.nodes[1]!.tool?.tag, "python");
    assert.equal(peru!.task.groundTruth, version === "0.4.1" ? undefined : "Lima");
    assert.equal(from(imported, "ground truth")!.carried, version === "0.4.1" ? "none" : "all");
    assert.equal(imported.steps[0]!["critic/score/mean"], 0.75);
    assert.equal(imported.steps[0]!["reward/acc/mean"], 0.6);
  });
}

test("importRollouts() reads TRL's completions tables, chats and texts", async () => {
  const imported = await importRollouts(`${fixtures}/trl`);
  assert.equal(imported.format, "trl");
  assert.deepEqual(
    imported.prompts.map(({ step }) => step),
    [5, 10],
  );
  const [chat, text] = imported.trees;
  assert.equal(chat!.nodes[1]!.tool?.tag, "multiply");
  assert.equal(chat!.nodes[1]!.tool?.text, "42");
  assert.equal(text!.nodes[1]!.text, "<result>\n42\n</result>");
  // The table's columns are added up; a function that gave nothing counts as nothing.
  assert.deepEqual(imported.prompts[0]!.scores, [1.5, 1, 0, 0]);
  assert.match(from(imported, "rewards")!.from, /no weights/);
  const only = await importRollouts(`${fixtures}/trl`, { score: ["accuracy_reward"] });
  assert.deepEqual(only.prompts[0]!.scores, [1, 1, 0, 0]);
  const { trajectories: rows } = imported.batchOf(0)!;
  assert.deepEqual(
    rows.map(({ advantages }) => Number(advantages[0]?.toFixed(3))),
    [1.2, 0.6, -0.9, NaN],
  );
});

test("importRollouts() reads verifiers' results with their calls and ends", async () => {
  const imported = await importRollouts(`${fixtures}/verifiers-results`);
  assert.equal(imported.format, "verifiers-results");
  const [peru, hi] = imported.trees;
  assert.deepEqual(shape(peru!).slice(1), [
    "0 tool \n\ntool:\nLima\n\nassistant:\n",
    "1 model Lima",
    "1 model Cuzco",
  ]);
  assert.match(peru!.nodes[0]!.text, /^<think>\nLook\.\n<\/think>\n\n\n<tool_call>/);
  assert.deepEqual(peru!.nodes[1]!.tool?.input, '{"q":"Peru"}');
  assert.equal(hi!.trajectories[0]!.end, "length");
  assert.equal(peru!.task.groundTruth, "Lima");
});

for (const place of ["verifiers-traces", "prime-rl"]) {
  test(`importRollouts() reads the message graphs of ${place} token by token`, async () => {
    const imported = await importRollouts(`${fixtures}/${place}`, { tokenizer });
    assert.equal(imported.format, "verifiers-traces");
    const [tree] = imported.trees;
    const lima = place === "prime-rl" ? ["1 model Lima."] : ["1 model Lima", "2 model ."];
    assert.deepEqual(shape(tree!).slice(0, 2 + lima.length), [
      "-1 model I search.",
      "0 tool <|tool|>Lima",
      ...lima,
    ]);
    assert.equal(tokenizer.decode(tree!.nodes[0]!.tokens), "I search.<|end|>");
    assert.equal(tokenizer.decode(tree!.nodes[1]!.tokens), "<|tool|>Lima<|assistant|>");
    assert.equal(tree!.prompt.text, "<|system|>Be brief.<|user|>Capital of Peru?<|assistant|>");
    const [first] = tree!.selected;
    assert.deepEqual([...first!.logprobs.slice(0, 3)], [-0.125, -0.25, -0.375]);
    assert.deepEqual([...first!.entropies.slice(0, 3)], [0.25, 0.5, 0.75]);
    assert.equal(imported.prompts[0]!.step, place === "prime-rl" ? 7 : 4);
    assert.deepEqual(
      [imported.prompts[0]!.scores[0], imported.prompts[0]!.scores.at(-1)],
      [1.5, 0.5],
    );
    assert.equal(tree!.task.groundTruth, "Lima");
    assert.ok(imported.batchOf(0)!.trajectories.every(({ advantages }) => advantages[0] === 0.5));
  });
}

test("importRollouts() reads prime-rl's token exports with their entropies", async () => {
  const imported = await importRollouts(`${fixtures}/prime-tokens`, { tokenizer });
  assert.equal(imported.format, "prime-tokens");
  const [tree] = imported.trees;
  assert.deepEqual(shape(tree!), ["-1 model It is ", "0 model 42.", "0 model 54."]);
  assert.ok(tree!.nodes.every(({ entropies }) => entropies.every((entropy) => entropy === 1.5)));
  assert.deepEqual(
    imported.batchOf(0)!.trajectories.map(({ advantages }) => advantages[0]),
    [1, -1],
  );
  const unread = await importRollouts(`${fixtures}/prime-tokens`);
  assert.equal(unread.tree(0).tokenizer, undefined, "words do not read ids");
  assert.match(from(unread, "tokens")!.from, /a tokenizer makes it readable/);
});

test("importRollouts() reads SkyRL's dumps and passes over what is beside them", async () => {
  const imported = await importRollouts(`${fixtures}/skyrl`);
  assert.equal(imported.format, "skyrl");
  assert.deepEqual(
    imported.files.map(({ format, rows }) => [format, rows]),
    [
      [undefined, 0],
      ["skyrl", 2],
    ],
  );
  const [tree] = imported.trees;
  assert.equal(imported.prompts[0]!.step, 20);
  // The second row has a score for each token.
  assert.deepEqual(imported.prompts[0]!.scores, [1, -0.25]);
  assert.deepEqual(
    [tree!.nodes[1]!.text, tree!.nodes[1]!.tool?.input],
    ["<information>Lima</information>", "Peru"],
  );
  assert.deepEqual(
    tree!.trajectories.map(({ end }) => end),
    ["answer", "length"],
  );
});

test("importRollouts() reads Tinker's samples, trajectories and summaries", async () => {
  const imported = await importRollouts(`${fixtures}/tinker`, { tokenizer });
  assert.equal(imported.format, "tinker-samples, tinker-trajectories, tinker-summaries");
  const [samples, sums] = imported.trees;
  assert.deepEqual(shape(samples!), ["-1 model It is ", "0 model 42.", "0 model 54"]);
  assert.ok(samples!.nodes[0]!.logprobs.every((logprob) => logprob === -0.5));
  assert.equal(sums!.nodes.find(({ kind }) => kind === "tool")!.tool?.text, "42");
  // Summaries have no texts: only their numbers are read.
  const step = imported.steps.find((line) => line.step === 3)!;
  assert.deepEqual([step["critic/score/mean"], step["rollouts"]], [0.5, 2]);
});

test("importRollouts() reads message logs, JSON lines and parquet, with a response's tokens", async () => {
  const chats = await importRollouts(`${fixtures}/messages/chats.jsonl`);
  assert.equal(chats.tree(0).nodes[1]!.tool?.tag, "search");
  assert.match(chats.tree(0).prompt.text, /Capital of Peru\?/);
  const table = await importRollouts(`${fixtures}/messages/chats.parquet`);
  assert.deepEqual(table.prompts[0]!.scores, [1, 0]);
  assert.deepEqual(texts(table), ["It is Lima.", "It is Cuzco."]);
  const exchanges = await importRollouts(`${fixtures}/messages/exchanges.jsonl`);
  const [tree] = exchanges.trees;
  assert.deepEqual(shape(tree!), ["-1 model It is", "0 model  Lima.", "0 model  Cu"]);
  assert.deepEqual([...tree!.nodes[1]!.logprobs], [-0.25, -0.25, -0.25]);
  assert.equal(tree!.trajectories[1]!.end, "length");
});

test("importRollouts() reads the sessions of OpenEnv's capture server", async () => {
  const path = `${fixtures}/openenv-capture/agents_chat.json`;
  const imported = await importRollouts(path, { tokenizer });
  assert.equal(imported.format, "openenv-capture");
  const [tree] = imported.trees;
  assert.deepEqual(
    tree!.nodes.map(({ kind, tokens }) => [kind, tokens.length]),
    [
      ["model", 17],
      ["tool", 6],
      ["model", 7],
    ],
  );
  assert.match(tree!.prompt.text, /What is 12 \+ 34 - 5/);
  assert.equal(tree!.nodes[0]!.logprobs[0]!.toFixed(4), "-0.0130");
});
