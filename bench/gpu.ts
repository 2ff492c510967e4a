// A GPU through WebGPU: its own rates first (float32 products by our kernel, bandwidth of a copy), then models
// by size: a step of training, a prompt, decoding at 1, 8 and 64 rows, each as a share of those rates and
// beside the compiled engine in the same run. `--sizes small,large,smol,half` chooses (default: small and,
// on a card, all).
import { modelConfig, type ModelConfig } from "../src/model/index.js";
import { ready } from "../src/tensor/index.js";
import { findGpu, webgpuDevice } from "../src/tensor/optional/webgpu.js";
import type { Benchmark, Figure } from "./figure.js";
import { cardRates } from "./parts/gpu-rates.js";
import { type ModelTimes, timesOn } from "./parts/gpu-times.js";

const sizes: Record<string, ModelConfig> = {
  small: modelConfig({
    ...{ hiddenSize: 128, layers: 4, heads: 4, kvHeads: 2, intermediateSize: 384 },
    ...{ vocabSize: 1024 },
  }),
  large: modelConfig({
    ...{ hiddenSize: 512, layers: 8, heads: 8, kvHeads: 4, intermediateSize: 1408 },
    ...{ vocabSize: 4096 },
  }),
  // SmolLM2-135M and Qwen2.5-0.5B, by their shapes.
  smol: modelConfig({
    ...{ family: "llama", hiddenSize: 576, layers: 30, heads: 9, kvHeads: 3 },
    ...{ intermediateSize: 1536, vocabSize: 49_152 },
  }),
  half: modelConfig({
    ...{ hiddenSize: 896, layers: 24, heads: 14, kvHeads: 2, intermediateSize: 4864 },
    ...{ vocabSize: 151_936 },
  }),
};

/** Flops of a forward pass a token, of the layers and of the head, and bytes of all weights. */
function work(config: ModelConfig): { layers: number; head: number; bytes: number } {
  const { hiddenSize: d, intermediateSize: f, heads, kvHeads, headDim, layers } = config;
  const layer = d * (heads + 2 * kvHeads) * headDim + heads * headDim * d + 3 * d * f;
  const head = config.vocabSize * d;
  return { layers: 2 * layers * layer, head: 2 * head, bytes: 4 * (layers * layer + head) };
}

export const figures: Benchmark = async function* (args) {
  const gpu = await findGpu();
  if (!gpu)
    throw new Error("Cannot measure a GPU: webgpu must be installed and find one, got none");
  process.stderr.write(
    `arpo-lab: ${gpu.name}${gpu.software ? ", which is made of software: its figures say nothing about a card" : ""}\n`,
  );
  const asked = args.indexOf("--sizes");
  const names =
    asked >= 0 ? (args[asked + 1] ?? "").split(",") : gpu.software ? ["small"] : Object.keys(sizes);
  const unknown = names.find((name) => !(name in sizes));
  if (unknown !== undefined) {
    throw new RangeError(
      `Cannot measure a GPU: --sizes must be of ${Object.keys(sizes).join(", ")}, got ${unknown}`,
    );
  }
  const rates = await cardRates(await webgpuDevice(), gpu.software ? 256 : 4096);
  yield { name: "gpu.matmul_f32", value: rates.flops / 1e9, unit: "Gflop/s", backend: "webgpu" };
  yield { name: "gpu.bandwidth", value: rates.bandwidth / 1e9, unit: "GB/s", backend: "webgpu" };

  const engine = await ready();
  for (const name of names) {
    const config = sizes[name]!;
    const [rows, time] = gpu.software ? [2, 32] : [16, 128];
    const beside = await timesOn(engine, config, rows, time);
    const times = await timesOn("webgpu", config, rows, time);
    const { layers, head, bytes } = work(config);
    const figure = (task: keyof ModelTimes): Figure => ({
      ...{ name: `gpu.${name}.${task}`, value: times[task], unit: "ms", backend: "webgpu" },
      ...{ peer: engine, peerValue: beside[task], ratio: times[task] / beside[task] },
    });
    const share = (task: keyof ModelTimes, ideal: number): Figure => ({
      ...{ name: `gpu.${name}.${task}_roofline`, value: (100 * ideal) / times[task] },
      ...{ unit: "% of the measured rate", backend: "webgpu" },
    });
    const tokens = rows * time;
    yield figure("train");
    // The logits are made once more for their gradients.
    yield share("train", (tokens * (3 * layers + 4 * head) * 1000) / rates.flops);
    yield figure("prompt");
    yield share("prompt", ((tokens * layers + rows * head) * 1000) / rates.flops);
    for (const task of ["decode1", "decode8", "decode64"] as const) {
      yield figure(task);
      yield share(task, (bytes * 1000) / rates.bandwidth);
    }
  }
};
