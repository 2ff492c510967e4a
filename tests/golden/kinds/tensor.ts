import { packHalf, unpackHalf } from "../../../src/model/files/half.js";
import { logProbEntropy } from "../../../src/tensor/log-prob.js";
import { tf } from "../../../src/tensor/tf.js";
import type { Runners } from "../runner.js";

type Tensor = InstanceType<typeof tf.Tensor>;

export const runners: Runners = {
  bfloat16_round: ({ float32 }) => {
    const out = new Float32Array(float32.length);
    unpackHalf(packHalf(Float32Array.from(float32), "bfloat16"), "bfloat16", out);
    return { bfloat16: out };
  },
  logits_to_logprob_entropy: ({ logits, labels, temperature }) => {
    const z = tf.tensor(logits);
    const ids = tf.tensor(labels, undefined, "int32");
    const { logprobs, entropies } = logProbEntropy(z, ids, temperature);
    const gradient = (pick: "logprobs" | "entropies") =>
      tf
        .grad((x: Tensor) => logProbEntropy(x, ids, temperature)[pick].sum())(z)
        .arraySync();
    return {
      log_prob: logprobs.arraySync(),
      entropy: entropies.arraySync(),
      grad_sum_log_prob_wrt_logits: gradient("logprobs"),
      grad_sum_entropy_wrt_logits: gradient("entropies"),
    };
  },
};
