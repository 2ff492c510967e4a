import type { tf } from "../../tensor/tf.js";
import type { Lora } from "./lora.js";

/** A layer's weights by the part of their name after `model.layers.N.`. */
export type LayerWeights = Record<string, tf.Tensor>;

/** Each layer's weights, adapters included, by the part of their names behind `model.layers.N.`. */
export function layerParts(
  layers: number,
  weights: ReadonlyMap<string, tf.Variable>,
  lora?: Lora,
): LayerWeights[] {
  const all = [...weights, ...(lora?.weights ?? [])];
  return Array.from({ length: layers }, (_, i) => {
    const prefix = `model.layers.${i}.`;
    const own = all.filter(([name]) => name.startsWith(prefix));
    return Object.fromEntries(own.map(([name, weight]) => [name.slice(prefix.length), weight]));
  });
}
