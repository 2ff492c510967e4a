import type { Model } from "../transformer/transformer.js";

/** The values a weight acts with: its own, or a copy with its adapters added. */
export async function actingValues(model: Model, name: string): Promise<Float32Array> {
  const acting = model.acting(name)!;
  const values = (await acting.data()) as Float32Array;
  if (acting === model.weights.get(name)) return values;
  const copied = values.slice();
  acting.dispose();
  return copied;
}
