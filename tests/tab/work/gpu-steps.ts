import { addLora } from "../../../src/model/lora/add-lora.js";
import { Model } from "../../../src/model/transformer/transformer.js";
import type { Tokenizer } from "../../../src/model/tokenizer/tokenizer.js";
import { Policy } from "../../../src/policy/policies.js";
import { Random } from "../../../src/base/random/random.js";
import { decodeBackend, ready } from "../../../src/tensor/backends.js";
import { AdamW } from "../../../src/tensor/adamw.js";
import { gradientsOf } from "../../../src/tensor/gradients.js";
import { tf } from "../../../src/tensor/tf.js";

/** What training and decoding gave, and on what. */
export interface GpuSteps {
  backend: string;
  decodes: string;
  losses: number[];
  tokens: number[];
  logprobs: number[];
}

const vocabSize = 40;
const tokenizer: Tokenizer = {
  ...{ vocabSize, eosId: -1, eosIds: [], padId: 0 },
  encode: (text) => [...text].map((letter) => letter.charCodeAt(0) % vocabSize),
  decode: (ids) => Array.from(ids, (id) => String.fromCharCode(97 + (id % 26))).join(""),
  chat: (messages) => messages.map(({ content }) => content).join(""),
};

/** Steps of training on a small model, then tokens of what it has become. */
export async function gpuSteps(adapters: boolean): Promise<GpuSteps> {
  const backend = await ready();
  const model = Model.init(
    {
      ...{ vocabSize, hiddenSize: 24, intermediateSize: 40, layers: 1, heads: 4, kvHeads: 2 },
      ...{ contextLength: 32, initializerRange: 0.2 },
    },
    7,
  );
  if (adapters) addLora(model, { rank: 4, alpha: 8, seed: 1 });
  const optimizer = new AdamW(model.trainable, { learningRate: 1e-2, maxNorm: 1 });
  const rows = [9, 4].map((size, r) =>
    Array.from({ length: size }, (_, i) => (r * 13 + i * 29) % vocabSize),
  );
  const { ids, lengths } = model.batch(rows);
  const losses: number[] = [];
  for (let step = 0; step < 3; step++) {
    const { value, gradients } = gradientsOf(
      () => model.logProbs({ ids, lengths }, ids).logprobs.mean().neg().asScalar(),
      model.trainable,
    );
    await optimizer.step(gradients);
    losses.push((await value.data())[0]!);
    tf.dispose([value, gradients]);
  }
  model.changed();
  const policy = Policy.fromModel(model, tokenizer);
  const session = policy.session();
  const row = session.open([3, 1, 4]);
  const options = { maxTokens: 6, temperature: 0, random: Random.from(1) };
  const { tokens, logprobs } = await session.generate(row, options);
  session.dispose();
  const decodes = decodeBackend();
  policy.dispose();
  return { backend, decodes, losses, tokens: [...tokens], logprobs: [...logprobs] };
}
