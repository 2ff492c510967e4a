import { tf } from "./tf.js";

interface TapeNode {
  inputs: Record<string, tf.Tensor>;
  gradient?: (dys: (tf.Tensor | null)[]) => Record<string, () => tf.Tensor>;
  saved?: tf.Tensor[];
}

/**
 * Runs what is differentiated so that each step of the backward pass frees what it alone has needed: the values
 * saved for it and the gradients that came to it. tfjs keeps both until the last step, which is twice the
 * memory. To be called where a tape runs: inside `tf.grads` or `tf.variableGrads`.
 */
export function freeTapeEagerly<T>(f: () => T): T {
  const tape = tf.engine().state.activeTape as unknown as TapeNode[];
  const before = tape.length;
  const result = f();
  // A gradient that an operation hands on as it came belongs to whom it was handed to, perhaps to several.
  const handedOn = new WeakSet<tf.Tensor>();
  for (const node of tape.slice(before)) {
    const { gradient, saved = [] } = node;
    if (!gradient) continue;
    // tfjs calls it on a copy of the node, whose inputs are those that want a gradient.
    node.gradient = function (this: TapeNode, dys) {
      const wanted = Object.keys(this.inputs);
      const gradients = gradient.call(this, dys);
      let left = wanted.length;
      return Object.fromEntries(
        wanted.map((name) => [
          name,
          () => {
            const found = gradients[name]!();
            if (dys.includes(found) || saved.includes(found)) handedOn.add(found);
            if (--left === 0) {
              for (const dy of dys) if (dy && !handedOn.has(dy)) dy.dispose();
              for (const tensor of saved) if (!handedOn.has(tensor)) tensor.dispose();
            }
            return found;
          },
        ]),
      );
    };
  }
  return result;
}
