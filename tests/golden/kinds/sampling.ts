import { sample } from "../../../src/model/decoder/sample.js";
import { supportAt } from "../../../src/policy/token-sets.js";
import { logProbEntropy } from "../../../src/tensor/log-prob.js";
import { logitsOf, overSupports } from "../../../src/tensor/ops/log-prob-entropy-from-hidden.js";
import { tf } from "../../../src/tensor/tf.js";
import type { Runners } from "../runner.js";

// Inputs are described in the files themselves.
/* eslint-disable @typescript-eslint/no-explicit-any */

/** What is left of a vocabulary when tokens are cut off, and how likely they then are. */
function keptSet(v: any) {
  const logits = v.logits as number[];
  const { support, supportLogprob, topIds, topLogprobs } = sample(logits, {
    ...{ temperature: v.temperature, topK: v.top_k ?? 0, topP: v.top_p ?? 1, minP: v.min_p ?? 0 },
    ...{ repetitionPenalty: 1, uniform: 0.5, top: logits.length },
  });
  const kept = support.length > 0 ? support : [...logits.keys()];
  const full = logits.map((_, id) => topLogprobs[topIds.indexOf(id)]!);
  return {
    kept_vllm: kept,
    kept_transformers: kept,
    log_prob_full: full,
    processed_log_prob_vllm: full.map((p, id) =>
      kept.includes(id) ? p - supportLogprob : -Infinity,
    ),
    kept_mass_vllm: Math.exp(supportLogprob),
  };
}

/** Log-probabilities over what was left at the sampler. */
function maskReplay(v: any) {
  const { logits, tokens, kept_token_ids, kept_offsets } = v;
  const labels = tf.tensor1d(tokens, "int32");
  const support = {
    offsets: Int32Array.from(kept_offsets),
    ids: Int32Array.from(kept_token_ids),
    logprobs: new Float32Array(0),
  };
  const supports = (tokens as number[]).map((label, t) => ({ label, ids: supportAt(support, t) }));
  const full = (z: tf.Tensor) => logProbEntropy(z, labels, 1);
  const over = (z: tf.Tensor) => overSupports(full(z).logprobs.as1D(), supports, logitsOf(z));
  const z = tf.tensor2d(logits);
  const read = (x: tf.Tensor) => [...x.dataSync()];
  const weights = tf.tensor1d(v.grad_weight);
  const ratios = (logprobs: tf.Tensor) =>
    read(logprobs.sub(tf.tensor1d(v.sampler_processed_log_prob)).exp());
  return {
    log_prob: read(over(z)),
    entropy_full: read(full(z).entropies),
    ratio: ratios(over(z)),
    log_prob_full_vocabulary: read(full(z).logprobs),
    ratio_without_replay: ratios(full(z).logprobs),
    grad_logits: tf
      .grad((x: tf.Tensor) => over(x).mul(weights).sum().asScalar())(z)
      .arraySync(),
  };
}

export const runners: Runners = {
  sampling_kept_set: keptSet,
  sampling_mask_replay: maskReplay,
};
