// A GPU through WebGPU: what it does at most first (products in registers, a copy), then the products of our
// kernel, then models by size: a training step, a prompt, and decoding with 1, 8 and 64 sequences. Each has its
// share of the limit, and stands beside the compiled engine and, where Python has PyTorch with CUDA, beside that.
// `--sizes small,large,smol,half` chooses (default: all; on a software adapter tiny alone, since its figures say
// nothing about a card), `--minutes N` leaves out sizes that would start later, `--quick` runs each task once.
import { modelConfig, type ModelConfig } from "../../src/model/config.js";
import { ready, switchBackend } from "../../src/tensor/backends.js";
import { findGpu, releaseWebgpu, webgpuDevice } from "../../src/tensor/optional/webgpu.js";
import type { MachineLimits } from "../../src/tensor/profile/machine.js";
import type { Benchmark, Figure } from "./figure.js";
import { cardRates } from "./parts/gpu-rates.js";
import { type Measured, type ModelTimes, timesOn } from "./parts/gpu-times.js";
import { decodeLimit, trainLimit, trainWork, weightCount } from "./parts/least-times.js";
import { cudaTorch, type TorchModel } from "./parts/torch-gpu.js";

const sizes: Record<string, ModelConfig> = {
  // What a software adapter finishes in seconds.
  tiny: modelConfig({
    ...{ hiddenSize: 32, layers: 2, heads: 4, kvHeads: 2, intermediateSize: 64, vocabSize: 128 },
  }),
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

const say = (text: string) => process.stderr.write(`arpo-lab: ${text}\n`);

function optionOf(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(name);
  return at < 0 ? undefined : (args[at + 1] ?? "");
}

function chosen(args: readonly string[], software: boolean): string[] {
  const asked = optionOf(args, "--sizes");
  const all = Object.keys(sizes);
  if (asked === undefined && software) {
    say(`${all.slice(1).join(", ")} are left out; \`--sizes ${all.join(",")}\` asks for them`);
    return ["tiny"];
  }
  const names = asked?.split(",") ?? all.slice(1);
  const unknown = names.find((name) => !(name in sizes));
  if (unknown === undefined) return names;
  throw new RangeError(
    `Cannot measure a GPU: --sizes must be of ${all.join(", ")}, got ${unknown || "none"}`,
  );
}

function minutes(args: readonly string[]): number {
  const asked = optionOf(args, "--minutes");
  const value = asked === undefined ? Infinity : Number(asked || NaN);
  if (value > 0) return value;
  throw new RangeError(`Cannot measure a GPU: --minutes must be above 0, got ${asked}`);
}

/** Why a model cannot be on this device, if it cannot. */
function unfit(config: ModelConfig, { limits }: GPUDevice): string | undefined {
  const bytes = 4 * config.vocabSize * config.hiddenSize;
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  if (bytes <= most) return undefined;
  return `its embeddings take ${bytes} bytes, and this GPU takes ${most} at once`;
}

/** Seconds that each task takes at least on a GPU with these limits. */
function leastTimes(
  config: ModelConfig,
  { rows, time }: Measured,
  limits: MachineLimits,
): Record<keyof ModelTimes, number> {
  const decode = (count: number, dtype: "float32" | "bfloat16" | "int8") =>
    decodeLimit(config, { dtype, rows: count, tokens: 1, positions: 1, shared: 0 }, limits);
  const prompt = { dtype: "float32" as const, rows, tokens: time, positions: time, shared: 0 };
  return {
    train: trainLimit(trainWork(config, rows, time), limits),
    prompt: decodeLimit(config, prompt, limits),
    decode1: decode(1, "float32"),
    decode8: decode(8, "float32"),
    decode64: decode(64, "float32"),
    decode8_bfloat16: decode(8, "bfloat16"),
    decode8_int8: decode(8, "int8"),
  };
}

/** The engine takes minutes for a training step of a larger model on a few cores. */
const MOST_WEIGHTS_BESIDE_ENGINE = 200e6;

async function* sizeFigures(
  name: string,
  limits: MachineLimits,
  measured: Measured,
  torch: TorchModel | undefined,
): AsyncGenerator<Figure> {
  const config = sizes[name]!;
  const engine = await ready();
  const small = weightCount(config) <= MOST_WEIGHTS_BESIDE_ENGINE;
  const beside = small ? await timesOn(engine, config, measured) : undefined;
  const times = await timesOn("webgpu", config, measured);
  const least = leastTimes(config, measured, limits);
  const figure = (task: keyof ModelTimes): Figure => ({
    ...{ name: `gpu.${name}.${task}`, value: times[task], unit: "ms", backend: "webgpu" },
    share: (1000 * least[task]) / times[task],
  });
  const compare = (baseline: string, baselineValue: number, value: number) => ({
    ...{ baseline, baselineValue, ratio: value / baselineValue },
  });
  for (const task of Object.keys(times) as (keyof ModelTimes)[]) {
    yield { ...figure(task), ...(beside && compare(engine, beside[task], times[task])) };
  }
  if (!torch) return;
  await switchBackend(engine);
  await releaseWebgpu(); // PyTorch needs the memory
  const { version, ...theirs } = torch(config, measured);
  for (const [task, value] of Object.entries(theirs) as [keyof typeof theirs, number][]) {
    const ours = figure(task);
    yield {
      ...{ ...ours, name: `${ours.name}_beside_torch` },
      ...compare(`torch ${version} on CUDA`, value, ours.value),
    };
  }
}

export const figures: Benchmark = async function* (args) {
  const gpu = await findGpu();
  if (!gpu) {
    throw new Error("Cannot measure a GPU: webgpu must be installed and find one, got none");
  }
  const { name, software } = gpu;
  say(`${name}${software ? ", which is a software adapter: it says nothing about a card" : ""}`);
  const names = chosen(args, software);
  const end = performance.now() + 60_000 * minutes(args);
  const quick = args.includes("--quick");
  const measured: Measured = {
    ...(software ? { rows: 2, time: 16 } : { rows: 16, time: 128 }),
    seconds: quick ? 0 : 2,
  };
  const engine = await ready();
  const torch = software ? undefined : cudaTorch();
  try {
    const device = await webgpuDevice();
    const has = ["shader-f16", "subgroups"].filter((feature) => device.features.has(feature));
    say(`the adapter has ${has.join(" and ") || "neither shader-f16 nor subgroups"}`);
    const rates = await cardRates(device, software ? 256 : 4096);
    const rate = (what: string, value: number, unit: string): Figure => ({
      ...{ name: `gpu.${what}`, value: value / 1e9, unit, backend: "webgpu" },
    });
    const products = (what: string, value: number): Figure => ({
      ...{ ...rate(what, value, "GFLOP/s"), share: value / rates.peak },
    });
    yield rate("limit.products", rates.peak, "GFLOP/s");
    yield rate("limit.bandwidth", rates.bandwidth, "GB/s");
    yield products("matmul_f32", rates.products);
    yield products("matmul_f16_weights", rates.halves);
    const limits: MachineLimits = {
      ...{
        isa: "webgpu",
        threads: 1,
        products: rates.peak,
        integerProducts: rates.peak,
        bfloat16Products: rates.peak,
      },
      bandwidth: rates.bandwidth,
    };
    for (const size of names) {
      const late = performance.now() > end ? "there is no time left" : undefined;
      const reason = late ?? unfit(sizes[size]!, await webgpuDevice());
      if (reason !== undefined) {
        say(`${size} is left out: ${reason}`);
        continue;
      }
      try {
        yield* sizeFigures(size, limits, measured, torch);
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
