import type { EngineFunctions } from "../../tensor/engine/engine-functions.js";
import type { DecoderLayerWeights, DecoderShape, DecoderType, DecoderWeights } from "./weights.js";
import type { StoredValues } from "../files/weight-file.js";

/** The places of native/src/decoder.h's `decoder_load_rows`. */
const places = { query: 0, key: 0, value: 0, output: 1, gate: 2, up: 3, down: 4, head: 5 } as const;

/** Copies weights into an engine's decoder, which packs them as its products want them. */
export function loadWeights(
  kernels: EngineFunctions,
  decoder: number,
  shape: DecoderShape,
  weights: DecoderWeights<StoredValues>,
  type: DecoderType,
): void {
  const narrow = type !== "float32";
  // The other types' matrices come below, piece by piece.
  const whole = (values: StoredValues) => (narrow ? null : (values as Float32Array));
  const { hidden, heads, kvHeads, headDim } = shape;
  for (const [i, w] of weights.layers.entries()) {
    kernels.decoder_load_layer(
      decoder,
      i,
      w.inputNorm,
      whole(w.query),
      whole(w.key),
      whole(w.value),
      w.queryBias ?? null,
      w.keyBias ?? null,
      w.valueBias ?? null,
      w.queryNorm ?? null,
      w.keyNorm ?? null,
      whole(w.output),
      w.postNorm,
      whole(w.gate),
      whole(w.up),
      whole(w.down),
    );
  }
  const head = weights.head ?? weights.embedding;
  kernels.decoder_load_ends(decoder, weights.finalNorm, whole(head));
  if (!narrow) return;

  const load = (layer: number, name: keyof typeof places, first: number, values: StoredValues) => {
    const inputs =
      name === "down" ? shape.feedForward : name === "output" ? heads * headDim : hidden;
    const rows = values.length / inputs;
    const [single, half] = values instanceof Float32Array ? [values, null] : [null, values];
    const bad = kernels.decoder_load_rows(
      ...([decoder, layer, places[name], first, rows, single, half] as const),
    );
    if (bad >= 0) {
      const where = name === "head" ? name : `layers[${layer}].${name}`;
      throw new RangeError(
        `Cannot load a model: weights must be finite, got a number that is not in ${where}, row ${bad}`,
      );
    }
  };
  const matrices = ["output", "gate", "up", "down"] as const;
  for (const [i, w] of weights.layers.entries()) {
    const joined: readonly [keyof DecoderLayerWeights & keyof typeof places, number][] = [
      ["query", 0],
      ["key", heads * headDim],
      ["value", (heads + kvHeads) * headDim],
    ];
    for (const [name, first] of joined) load(i, name, first, w[name]);
    for (const name of matrices) load(i, name, 0, w[name]);
  }
  load(0, "head", 0, head);
}
