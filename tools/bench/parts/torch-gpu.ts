// PyTorch on the same card: the model of the other baseline at any shape (tools/bench/baselines/torch_baseline.py).
import type { ModelConfig } from "../../../src/model/config.js";
import type { Measured } from "./gpu-times.js";
import { pythonHas, torchOutput } from "./torch-baseline.js";

interface TorchTimes {
  version: string;
  /** Milliseconds, as our own. */
  train: number;
  prompt: number;
  decode1: number;
  decode8: number;
  decode64: number;
}
export type TorchModel = (config: ModelConfig, measured: Measured) => TorchTimes;

/** Measures a model with PyTorch on CUDA; nothing where Python has none or finds no card. */
export function cudaTorch(): TorchModel | undefined {
  if (!pythonHas("import torch, numpy; assert torch.cuda.is_available()")) return undefined;
  return (config, { rows, time, seconds }) => {
    const shape = {
      ...{ d: config.hiddenSize, layers: config.layers, heads: config.heads, kv: config.kvHeads },
      ...{ hd: config.headDim, ff: config.intermediateSize, vocab: config.vocabSize },
      ...{ batch: rows, seq: time, dsteps: 32, reps: seconds > 0 ? 7 : 1 },
    };
    const one = ["--device", "cuda", "--shape", JSON.stringify(shape)];
    return torchOutput(one) as TorchTimes;
  };
}
