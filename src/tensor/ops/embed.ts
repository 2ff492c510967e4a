import { fused } from "../fused.js";
import { embed as plain } from "../plain.js";
import type { tf } from "../tfjs.js";

/** Rows of a table [vocabulary, width] by int32 ids of any shape. Differentiable in the table. */
export function embed(table: tf.Tensor, ids: tf.Tensor): tf.Tensor {
  if (ids.dtype !== "int32") {
    throw new TypeError(`Cannot embed: ids must be int32, got ${ids.dtype}`);
  }
  const attributes = { vocabulary: table.shape[0] };
  return fused("ArpoEmbed", { table, ids }, attributes, 1, () => [plain(table, ids)])[0]!;
}
