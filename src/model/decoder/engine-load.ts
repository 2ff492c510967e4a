import type { EngineFunctions } from "../../tensor/engine/engine-functions.js";
import {
  type DecoderLayerWeights,
  type DecoderShape,
  type DecoderType,
  type DecoderWeights,
  engineOnly,
  inBlocks,
  rotaryTables,
} from "./weights.js";
import { PackedTensor } from "../files/gguf/packed-tensor.js";
import { quantize } from "../files/gguf/quantize.js";
import { type PackedValues, type StoredValues, wholeValues } from "../files/weight-file.js";

const pieceValues = 1 << 20; // widened or packed at a time

/** The places of native/src/model/decoder.h's `decoder_load_rows`. */
const places = { query: 0, key: 0, value: 0, output: 1, gate: 2, up: 3, down: 4, head: 5 } as const;

const isPacked = (values: StoredValues, types: readonly string[]): values is PackedValues =>
  "unpack" in values && types.includes(values.type);

const asEights = (values: StoredValues): StoredValues =>
  isPacked(values, ["Q8_0"])
    ? values
    : new PackedTensor("Q8_0", quantize("Q8_0", wholeValues(values)), values.length);

function checkWidths(
  type: DecoderType,
  { hidden, heads, headDim, feedForward }: DecoderShape,
): void {
  for (const width of [hidden, heads * headDim, feedForward]) {
    if (width % 32 === 0) continue;
    throw new RangeError(
      `Cannot make a decoder: with dtype "${type}" widths must be multiples of 32, got ${width}`,
    );
  }
}

/** Where a matrix goes: rows from `first` on, of so many inputs. */
interface Target {
  kernels: EngineFunctions;
  decoder: number;
  type: DecoderType;
  layer: number;
  name: keyof typeof places;
  first: number;
  inputs: number;
}

/** Hands a matrix to the engine, a piece of rows at a time where it must be widened or packed. */
function loadMatrix(target: Target, values: StoredValues): void {
  const { kernels, decoder, type, layer, name, first, inputs } = target;
  const rows = values.length / inputs;
  const fours = type === "q4" || type === "w4a8";
  const asTheyLie = fours ? (["Q4_0", "Q4_1", "Q8_0"] as const) : (["Q8_0"] as const);
  const blocks = inBlocks(type) && isPacked(values, asTheyLie);
  const piece = "unpack" in values ? Math.ceil(pieceValues / inputs) : rows;
  for (let row = 0; row < rows; row += piece) {
    const count = Math.min(piece, rows - row);
    const [from, size] = [row * inputs, count * inputs];
    const place = [decoder, layer, places[name], first + row, count] as const;
    let bad: number;
    if (blocks) {
      const each = (32 * values.bytes.length) / values.length;
      const bytes = values.bytes.subarray((from / 32) * each, ((from + size) / 32) * each);
      bad = kernels.decoder_load_blocks(...place, bytes, each);
    } else {
      const half = values instanceof Uint16Array ? values : null;
      bad = kernels.decoder_load_rows(
        ...place,
        half ? null : wholeValues(values, from, size),
        half,
      );
    }
    if (bad < 0) continue;
    const where = name === "head" ? name : `layers[${layer}].${name}`;
    throw new RangeError(
      `Cannot load a model: weights must be finite, got a number that is not in ${where}, row ${row + bad}`,
    );
  }
}

/** Copies weights into an engine's decoder, which packs them as its products want them. */
export function loadWeights(
  kernels: EngineFunctions,
  decoder: number,
  shape: DecoderShape,
  weights: DecoderWeights<StoredValues>,
  type: DecoderType,
): void {
  const narrow = type !== "float32";
  if (engineOnly(type)) checkWidths(type, shape);
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
  const { of } = rotaryTables(shape);
  for (const [i, w] of weights.layers.entries()) {
    kernels.decoder_load_kind(
      decoder,
      i,
      w.outputBias ?? null,
      w.gateBias ?? null,
      w.upBias ?? null,
      w.downBias ?? null,
      w.attendedNorm ?? null,
      w.foundNorm ?? null,
      shape.kinds?.[i]?.window ?? 0,
      of[i]!,
    );
  }
  const head = weights.head ?? weights.embedding;
  kernels.decoder_load_ends(decoder, weights.finalNorm, whole(head));
  if (!narrow) return;

  const load = (layer: number, name: keyof typeof places, first: number, values: StoredValues) => {
    const inputs =
      name === "down" ? shape.feedForward : name === "output" ? heads * headDim : hidden;
    loadMatrix({ kernels, decoder, type, layer, name, first, inputs }, values);
  };
  const matrices = ["output", "gate", "up", "down"] as const;
  for (const [i, w] of weights.layers.entries()) {
    const joined: readonly [keyof DecoderLayerWeights & keyof typeof places, number][] = [
      ["query", 0],
      ["key", heads * headDim],
      ["value", (heads + kvHeads) * headDim],
    ];
    // The three are one matrix to the engine, which has blocks of one kind.
    const eights = joined.filter(([name]) => isPacked(w[name], ["Q8_0"])).length;
    for (const [name, first] of joined) {
      const mixed = type !== "w8a8" && inBlocks(type) && eights > 0 && eights < joined.length;
      load(i, name, first, mixed ? asEights(w[name]) : w[name]);
    }
    for (const name of matrices) load(i, name, 0, w[name]);
  }
  load(0, "head", 0, head);
}
