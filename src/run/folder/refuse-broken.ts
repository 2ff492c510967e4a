import type { Model } from "../../model/transformer/transformer.js";

/** A checkpoint that could not be continued from must not take the place of one that could. */
export async function refuseBroken(model: Model): Promise<void> {
  for (const [name, weight] of [...model.weights, ...(model.lora?.weights ?? [])]) {
    const bad = (await weight.data()).find((value) => !Number.isFinite(value));
    if (bad !== undefined) {
      throw new RangeError(
        `Cannot save a model: its weights must be finite numbers, got ${bad} in ${name}`,
      );
    }
  }
}
