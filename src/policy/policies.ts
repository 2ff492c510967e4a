import type { Model } from "../model/transformer/transformer.js";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
import { connectRemote, type ConnectOptions } from "./remote/connect.js";
import type { RemotePolicy } from "./remote/remote-policy.js";
import type { Policy as PolicyInterface } from "./policy.js";
import { loadPolicy, ModelPolicy, type ModelPolicyOptions } from "./policy-from-model.js";

/** Something that generates and says how sure it was: a local model or a remote endpoint. */
export type Policy = PolicyInterface;

/**
 * Ways to get a policy.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { HfTokenizer, Model } from "arpo-lab/model";
 * import { trainBpe } from "arpo-lab/experimental/formats";
 * import { Policy } from "arpo-lab/policy";
 * import { Random } from "arpo-lab/policy";
 *
 * // Usually: await Policy.load("data/models/tiny"). Here, a small model that has learnt nothing.
 * const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
 * const sizes = { hiddenSize: 16, intermediateSize: 32, layers: 2, heads: 4, kvHeads: 2 };
 * const model = Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 7);
 * const policy = Policy.fromModel(model, tokenizer);
 * const session = policy.session();
 * const sequence = session.open(tokenizer.encode("low"));
 * const segment = await session.generate(sequence, { maxTokens: 4, random: Random.from(7) });
 * assert.ok(segment.tokens.length >= 1 && segment.tokens.length <= 4);
 * assert.equal(segment.entropies.length, segment.tokens.length);
 * session.dispose();
 * policy.dispose();
 * ```
 */
export const Policy = {
  /**
   * From a Hugging Face folder (config.json, safetensors, tokenizer.json) or a `.gguf` file.
   * `{ dtype: "bfloat16" }`, `"int8"`, `"q4"`, `"w8a8"`, `"w4a8"` or `"w16a16"` for models that are only read, in less
   * memory.
   */
  load: loadPolicy,
  /**
   * From a model in memory; it may go on being trained, also where `dtype` rounds what samples.
   * @param model the model to sample from; it may be trained on
   * @param tokenizer the model's tokenizer
   */
  fromModel: (model: Model, tokenizer: Tokenizer, options?: ModelPolicyOptions): ModelPolicy =>
    new ModelPolicy(model, tokenizer, options),
  /**
   * From one or more OpenAI-compatible endpoints of the same model, with its tokenizer here.
   * @param urls the address of an endpoint, or several of the same model
   */
  remote: (urls: string | readonly string[], options: ConnectOptions): Promise<RemotePolicy> =>
    connectRemote(typeof urls === "string" ? [urls] : urls, options),
};
