// A GPU through WebGPU: its own rates first (products by our kernel, with weights as they are and in
// halves, bandwidth of a copy), then models by size: a step of training, a prompt, decoding at 1, 8 and 64
// sequences, each as a share of those rates and beside the compiled engine in the same run. What does not fit
// the card is left out in so many words. `--sizes small,large,smol,half` chooses (default: all, and on a
// GPU made of software, whose figures say nothing, small alone).
import { modelConfig, type ModelConfig } from "../src/model/config.js";
import { ready, switchBackend } from "../src/tensor/backends.js";
import { findGpu, releaseWebgpu, webgpuDevice } from "../src/tensor/optional/webgpu.js";
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

/** Flops of a forward pass a token, of the layers and of the head, and numbers of all weights. */
function work(config: ModelConfig): { layers: number; head: number; weights: number } {
  const { hiddenSize: d, intermediateSize: f, heads, kvHeads, headDim, layers } = config;
  const layer = d * (heads + 2 * kvHeads) * headDim + heads * headDim * d + 3 * d * f;
  const head = config.vocabSize * d;
  return { layers: 2 * layers * layer, head: 2 * head, weights: layers * layer + head };
}

const say = (text: string) => process.stderr.write(`arpo-lab: ${text}\n`);

function chosen(args: readonly string[], software: boolean): string[] {
  const asked = args.indexOf("--sizes");
  const all = Object.keys(sizes);
  if (asked < 0 && software) {
    say(`${all.slice(1).join(", ")} are left out; \`--sizes ${all.join(",")}\` asks for them`);
    return ["small"];
  }
  const names = asked < 0 ? all : (args[asked + 1] ?? "").split(",");
  const unknown = names.find((name) => !(name in sizes));
  if (unknown === undefined) return names;
  throw new RangeError(
    `Cannot measure a GPU: --sizes must be of ${all.join(", ")}, got ${unknown || "none"}`,
  );
}

/** Why a model cannot be on this device, if it cannot. */
function unfit(config: ModelConfig, { limits }: GPUDevice): string | undefined {
  const bytes = 4 * config.vocabSize * config.hiddenSize;
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  if (bytes <= most) return undefined;
  return `its embeddings take ${bytes} bytes, and this GPU takes ${most} at once`;
}

async function* sizeFigures(
  name: string,
  { flops, bandwidth }: { flops: number; bandwidth: number },
  [rows, time]: readonly [rows: number, time: number],
): AsyncGenerator<Figure> {
  const config = sizes[name]!;
  const engine = await ready();
  const beside = await timesOn(engine, config, rows, time);
  const times = await timesOn("webgpu", config, rows, time);
  const { layers, head, weights } = work(config);
  const figure = (task: keyof ModelTimes): Figure => ({
    ...{ name: `gpu.${name}.${task}`, value: times[task], unit: "ms", backend: "webgpu" },
    ...{ baseline: engine, baselineValue: beside[task], ratio: times[task] / beside[task] },
  });
  const share = (task: keyof ModelTimes, ideal: number): Figure => ({
    ...{ name: `gpu.${name}.${task}_roofline`, value: (100 * ideal) / times[task] },
    ...{ unit: "% of the measured rate", backend: "webgpu" },
  });
  const tokens = rows * time;
  yield figure("train");
  // The logits are made once more for their gradients.
  yield share("train", (tokens * (3 * layers + 4 * head) * 1000) / flops);
  yield figure("prompt");
  yield share("prompt", ((tokens * layers + rows * head) * 1000) / flops);
  for (const [task, bytes] of [
    ["decode1", 4],
    ["decode8", 4],
    ["decode64", 4],
    ["decode8_bfloat16", 2],
    ["decode8_int8", 1],
  ] as const) {
    yield figure(task);
    yield share(task, (bytes * weights * 1000) / bandwidth);
  }
}

export const figures: Benchmark = async function* (args) {
  const gpu = await findGpu();
  if (!gpu) {
    throw new Error("Cannot measure a GPU: webgpu must be installed and find one, got none");
  }
  const { name, software } = gpu;
  say(`${name}${software ? ", which is made of software: it says nothing about a card" : ""}`);
  const names = chosen(args, software);
  const engine = await ready();
  try {
    const device = await webgpuDevice();
    const has = ["shader-f16", "subgroups"].filter((feature) => device.features.has(feature));
    say(`the adapter has ${has.join(" and ") || "neither shader-f16 nor subgroups"}`);
    const rates = await cardRates(device, software ? 256 : 4096);
    const rate = (what: string, value: number, unit: string): Figure => ({
      ...{ name: `gpu.${what}`, value: value / 1e9, unit, backend: "webgpu" },
    });
    yield rate("matmul_f32", rates.flops, "Gflop/s");
    yield rate("matmul_f16_weights", rates.halves, "Gflop/s");
    yield rate("bandwidth", rates.bandwidth, "GB/s");
    for (const size of names) {
      const reason = unfit(sizes[size]!, await webgpuDevice());
      if (reason !== undefined) {
        say(`${size} is left out: ${reason}`);
        continue;
      }
      try {
        yield* sizeFigures(size, rates, software ? [2, 32] : [16, 128]);
      } catch (error) {
        say(`${size} is left out: ${(error as Error).message.split("\n")[0]}`);
      }
      await switchBackend(engine);
    }
  } finally {
    // While there is a device, Dawn keeps the process alive.
    await switchBackend(engine);
    await releaseWebgpu();
  }
};
