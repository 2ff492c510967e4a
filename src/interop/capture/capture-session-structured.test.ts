// What a format, a required call and a named function leave of the vocabulary is kept in captured trees.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ask, user } from "../../../tests/capture/scripted-capture.js";
import { advantages } from "../../learn/advantages.js";
import { update } from "../../learn/update/learner.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { trainBpe } from "../../model/tokenizer/train-bpe.js";
import { Model } from "../../model/transformer/transformer.js";
import { ModelPolicy } from "../../policy/policy-from-model.js";
import { supportAt } from "../../policy/token-sets.js";
import { score } from "../../reward/score-trees.js";
import { treesFromJsonl, treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { capture } from "./capture-server.js";
import { rolloutRecord } from "./rollout-record.js";

const turns =
  "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
const hermes = `{% if tools %}{{ tools | tojson }}<tool_call></tool_call>{% endif %}${turns}`;
const schema = {
  type: "object",
  properties: { unit: { enum: ["C", "F"] }, note: { type: "string", maxLength: 4 } },
  required: ["unit", "note"],
  additionalProperties: false,
};
const tool = (name: string) => ({ type: "function", function: { name, parameters: schema } });

async function captured(t: TestContext, template: string) {
  const files = trainBpe(['<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'], {
    vocabSize: 300,
  });
  files.config.chat_template = template;
  const tokenizer = new HfTokenizer(files);
  const { vocabSize } = tokenizer;
  const sizes = { hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2, kvHeads: 1 };
  const model = Model.init({ ...sizes, vocabSize, contextLength: 2048 }, 7);
  const policy = new ModelPolicy(model, tokenizer, { name: "m" });
  const server = await capture(policy);
  t.after(() => server.stop());
  return { server, policy, tokenizer };
}

/** Tokens without a choice are out of the loss, and what was sampled is among what was left. */
function checkSupports(tree: RolloutTree): { given: number; held: number } {
  let [given, held] = [0, 0];
  for (const { tokens, lossMask, support } of tree.trajectories) {
    assert.ok(support);
    for (const [i, token] of tokens.entries()) {
      const ids = supportAt(support, i);
      assert.ok(ids.length === 0 || ids.includes(token), `token ${i}`);
      assert.equal(lossMask[i], 1 - (support.given?.[i] ?? 0));
      given += support.given?.[i] ?? 0;
      if (ids.length > 0) held++;
    }
  }
  return { given, held };
}

test("capture: a format's masks are kept; what they alone left is out of the loss, and an update is over the rest", async (t) => {
  const { server, policy } = await captured(t, hermes);
  const response_format = { type: "json_schema", json_schema: { name: "w", schema } };
  const session = server.session({ task: { id: "w" } });
  for (let i = 0; i < 2; i++) await ask(session, [user("?")], { more: { response_format, max_tokens: 60 } }); // prettier-ignore
  const ended = await server.end(session, 1);
  const [tree] = treesFromJsonl(treesToJsonl(ended.trees));
  const { given, held } = checkSupports(tree!);
  assert.ok(given >= 10 && held > given, `${given} given of ${held}`);
  const { sequences } = rolloutRecord(ended) as { sequences: { loss_mask: number[]; n_trainable: number }[] }; // prettier-ignore
  const ones = tree!.trajectories.map(({ lossMask }) => lossMask.reduce((sum, one) => sum + one, 0)); // prettier-ignore
  assert.deepEqual(sequences.map((one) => one.n_trainable), ones); // prettier-ignore

  const batch = advantages(await score(tree!, (judged) => judged.tree!.trajectory));
  const { metrics } = await update(policy, batch, { learningRate: 1e-3 });
  assert.ok(metrics["actor/grad_norm"]! > 0);
  // What sampled is what is trained: over the support both say the same.
  assert.ok(Math.abs(metrics["actor/ppo_kl"]!) < 1e-4, String(metrics["actor/ppo_kl"]));
});

test("capture: a required call by tags and a named function are held, and a branch goes on under the same masks", async (t) => {
  const tagged = await captured(t, turns);
  const tools = [tool("first"), tool("second")];
  const asking = { tools, tool_choice: "required", max_tokens: 12 };
  const session = tagged.server.session({ task: { id: "w" } });
  const { json } = await ask(session, [user("?")], { more: asking });
  const { name } = json!.choices[0]!.message.tool_calls![0]!.function;
  const ended = await tagged.server.end(session, 1);
  const { given } = checkSupports(ended.trees[0]!);
  // `<` is no choice, and the name is none behind its first letter.
  assert.ok(given >= name.length);
  const [call] = ended.calls;
  const opening = tagged.tokenizer.encode(`<${name}>`);
  assert.deepEqual([...call!.tokens].slice(0, opening.length), opening);
  // Left inside the opening, the branch still has to end it.
  const at = { call: 0, token: opening.length - 1 };
  const branch = tagged.server.session({ replay: ended, at });
  const again = await ask(branch, [user("?")], { more: asking });
  assert.equal(again.json!.choices[0]!.message.tool_calls![0]!.function.name, name);
  const branched = await tagged.server.end(branch, 0);
  assert.equal(branched.refused, undefined);
  assert.deepEqual([...branched.calls[0]!.tokens].slice(0, opening.length), opening);
  const place = opening.length - 1;
  assert.equal(branched.calls[0]!.support!.given![place], call!.support!.given![place]);

  const { server } = await captured(t, hermes);
  const named = server.session({ task: { id: "w" } });
  const tool_choice = { type: "function", function: { name: "second" } };
  const answer = await ask(named, [user("?")], { more: { tools, tool_choice, max_tokens: 60 } });
  const { function: called } = answer.json!.choices[0]!.message.tool_calls![0]!;
  assert.equal(called.name, "second");
  assert.deepEqual(Object.keys(JSON.parse(called.arguments) as object), ["unit", "note"]);
  assert.ok(checkSupports((await server.end(named, 1)).trees[0]!).given > 5);
});
