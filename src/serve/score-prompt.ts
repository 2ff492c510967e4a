import type { Policy } from "../policy/policies.js";
import { ModelPolicy } from "../policy/policy-from-model.js";
import { tf } from "../tensor/tf.js";
import { ApiError } from "./http/api-error.js";
import type { TokenReport } from "./logprobs.js";

/** Log-probs of a prompt's own tokens at temperature 1, in one pass, with the most likely alternatives. */
export async function scorePrompt(
  policy: Policy,
  tokens: readonly number[],
  top: number,
): Promise<Omit<TokenReport, "offset">[]> {
  if (!(policy instanceof ModelPolicy)) {
    throw new ApiError(400, "'echo' with 'logprobs' needs a model on this machine.", {
      param: "echo",
    });
  }
  const { model } = policy;
  if (tokens.length === 1) return [{ id: tokens[0]!, top: [] }];
  const found = tf.tidy(() => {
    const hidden = model.forward(model.batch([tokens.slice(0, -1)]));
    const logits = model.logits(hidden).squeeze<tf.Tensor2D>([0]);
    const all = logits.sub<tf.Tensor2D>(logits.logSumExp(1, true));
    const next = tf.tensor1d(tokens.slice(1), "int32");
    const rows = tf.range(0, tokens.length - 1, 1, "int32");
    const own = tf.gatherND(all, tf.stack([rows, next], 1)) as tf.Tensor1D;
    const { values, indices } = tf.topk(all, Math.max(1, top));
    return { own, values, indices };
  });
  try {
    const [own, values, indices] = await Promise.all([
      found.own.data(),
      found.values.data(),
      found.indices.data(),
    ]);
    const width = Math.max(1, top);
    return tokens.map((id, i) => {
      if (i === 0) return { id, top: [] };
      const at = (i - 1) * width;
      const alternatives = Array.from({ length: top }, (_, k) => ({
        id: indices[at + k]!,
        logprob: values[at + k]!,
      }));
      return { id, logprob: own[i - 1]!, top: alternatives };
    });
  } finally {
    tf.dispose(found);
  }
}
