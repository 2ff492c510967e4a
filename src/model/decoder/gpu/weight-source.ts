import type { Device, DeviceBuffer } from "../../../tensor/gpu/handles.js";
import type { Dispatch, Programs } from "../../../tensor/gpu/programs.js";
import { type StoredValues, wholeValues } from "../../files/weight-file.js";
import type { DecoderWeights } from "../weights.js";

/** A weight by what a decoder calls it; those outside of the layers have no layer. */
export type WeightPart =
  | "inputNorm"
  | "query"
  | "key"
  | "value"
  | "queryBias"
  | "keyBias"
  | "valueBias"
  | "queryNorm"
  | "keyNorm"
  | "output"
  | "postNorm"
  | "gate"
  | "up"
  | "down"
  | "embedding"
  | "finalNorm"
  | "head";

/** Where a decoder's weights come from. */
export interface GpuWeightSource {
  /** Whether the output is the embedding once more. */
  readonly tied: boolean;
  /** Puts a weight's float32 values into a buffer; false where the model has no such weight. */
  put(part: WeightPart, layer: number, to: DeviceBuffer, offset: number, floats: number): boolean;
  /** A matrix as bits of bfloat16, where it comes so. */
  halves?(part: WeightPart, layer: number): Uint16Array | undefined;
  /** Runs a dispatch on what was put before it. */
  run(dispatch: Dispatch, programs: Programs): void;
  /** Called when all have been put. */
  done(): void;
}

/** Weights in main memory, uploaded: as numbers, as bits of bfloat16, or in a file's blocks. */
export function uploaded(
  device: Device,
  weights: DecoderWeights<StoredValues>,
  tied?: boolean,
): GpuWeightSource {
  const find = (part: WeightPart, layer: number): StoredValues | undefined =>
    part === "embedding" || part === "finalNorm" || part === "head"
      ? weights[part]
      : weights.layers[layer]![part];
  return {
    tied: tied ?? weights.head === undefined,
    put(part, layer, to, offset, floats) {
      const found = find(part, layer);
      if (!found) return false;
      if (found.length !== floats) {
        throw new RangeError(
          `Cannot make a decoder: ${part} must have ${floats} values, got ${found.length}`,
        );
      }
      const { buffer, byteOffset, byteLength } = wholeValues(found);
      device.queue.writeBuffer(to, offset, buffer, byteOffset, byteLength);
      return true;
    },
    halves(part, layer) {
      const found = find(part, layer);
      return found instanceof Uint16Array ? found : undefined;
    },
    run(dispatch, programs) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      programs.record(pass, dispatch);
      pass.end();
      programs.flush();
      device.queue.submit([encoder.finish()]);
    },
    done: () => undefined,
  };
}
