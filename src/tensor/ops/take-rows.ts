import { fused } from "../fused.js";
import { tf } from "../tfjs.js";

/**
 * Rows of a table [rows, width] by int32 ids, as `embed` has them. Without a kernel for it the gradient takes a time that
 * grows with the ids alone: tfjs's own goes through all of them for each row of the table.
 */
export function takeRows(table: tf.Tensor, ids: tf.Tensor1D): tf.Tensor {
  const plain = () =>
    tf.customGrad((given, save) => {
      (save as (tensors: tf.Tensor[]) => void)([ids]);
      return {
        value: tf.gather(given as tf.Tensor, ids),
        gradFunc: (dy: tf.Tensor, [places]: tf.Tensor[]) =>
          tf.scatterND(places!.expandDims(1), dy, table.shape as [number]),
      };
    })(table);
  return fused("ArpoEmbed", { table, ids }, { vocabulary: table.shape[0] }, 1, () => [plain()])[0]!;
}
