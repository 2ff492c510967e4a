import { tf } from "../tensor/tf.js";

type Named = Record<string, tf.Tensor>;

/** Adds gradients to a running sum; the tensors that are no longer needed are freed. */
export function accumulate(sum: Named | undefined, more: Named): Named {
  if (!sum) return more;
  const out: Named = { ...sum };
  for (const [name, gradient] of Object.entries(more)) {
    const before = sum[name];
    out[name] = before ? before.add(gradient) : gradient;
    if (before) tf.dispose([before, gradient]);
  }
  return out;
}
