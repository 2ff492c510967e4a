// Run by webgpu.slow.test.ts on one backend after another: prints what the fused ops give, and what a
// model says before and after a step of reinforcement learning, whole and with adapters.
import { type BatchSequence, TrainingBatch } from "../../src/learn/batch.js";
import { Learner } from "../../src/learn/update/learner.js";
import { addLora } from "../../src/model/lora/add-lora.js";
import { fetchWeights } from "../../src/model/decoder/of-model.js";
import { Model } from "../../src/model/transformer/transformer.js";
import type { Tokenizer } from "../../src/model/tokenizer/tokenizer.js";
import { Policy } from "../../src/policy/policies.js";
import { Random } from "../../src/base/random/random.js";
import { ready } from "../../src/tensor/backends.js";
import { opCases, runCase } from "./op-cases.js";

const vocabSize = 40;
const tokenizer: Tokenizer = {
  ...{ vocabSize, eosId: -1, eosIds: [], padId: 0 },
  encode: (text) => [...text].map((letter) => letter.charCodeAt(0) % vocabSize),
  decode: (ids) => Array.from(ids, (id) => String.fromCharCode(97 + (id % 26))).join(""),
  chat: (messages) => messages.map(({ content }) => content).join(""),
};

/** Answers of the model and their advantages: every second one is to become more likely. */
async function answers(policy: ReturnType<typeof Policy.fromModel>): Promise<BatchSequence[]> {
  const session = policy.session();
  const rows = Array.from({ length: 6 }, (_, i) => session.open([i, 3, 5]));
  const segments = await Promise.all(
    rows.map((row, i) => session.generate(row, { maxTokens: 9, random: Random.from(i) })),
  );
  session.dispose();
  return segments.map(({ tokens, logprobs, entropies }, row) => {
    const ones = new Uint8Array(tokens.length).fill(1);
    const floats = (value: number) => new Float32Array(tokens.length).fill(value);
    return {
      trajectory: {
        ...{ id: row, kind: "initial" as const, round: 0, parent: -1, from: -1, leaf: row },
        ...{ tree: 0, nodes: [row], end: "answer" as const, text: "", calls: 0, toolCalls: [] },
        prompt: Int32Array.from([row, 3, 5]),
        ...{ tokens, logprobs, entropies, written: ones, attention: ones, lossMask: ones },
      },
      ...{ group: "q", reward: row % 2, advantages: floats(row % 2 ? 1 : -1) },
      ...{ returns: floats(0), oldLogprobs: logprobs, entropies },
    };
  });
}

async function learning(adapters: boolean) {
  const model = Model.init(
    {
      ...{ vocabSize, hiddenSize: 32, intermediateSize: 64, layers: 2, heads: 4, kvHeads: 2 },
      ...{ contextLength: 64, initializerRange: 0.2 },
    },
    7,
  );
  if (adapters) addLora(model, { rank: 4, alpha: 8, seed: 1 });
  await fetchWeights(model);
  const policy = Policy.fromModel(model, tokenizer);
  const before = await answers(policy);
  const learner = new Learner(model, { learningRate: 0.02 });
  const scores = async () =>
    (await learner.logProbs(before)).logprobs.map((row) => Array.from(row));
  const scored = await scores();
  const { metrics } = await learner.update(new TrainingBatch(before, "grpo"));
  const after = await answers(policy);
  const told = (rows: BatchSequence[]) =>
    rows.map(({ trajectory }) => ({
      tokens: Array.from(trajectory.tokens),
      logprobs: Array.from(trajectory.logprobs),
    }));
  return { before: told(before), scored, metrics, moved: await scores(), after: told(after) };
}

const backend = await ready();
const ops: Record<string, unknown> = {};
for (const op of opCases) ops[op.name] = await runCase(op);
const result = { backend, ops, whole: await learning(false), adapters: await learning(true) };
process.stdout.write(JSON.stringify(result), () => process.exit(0));
