import { readFile } from "#platform/files";
import { dirname } from "#platform/path";
import { parse } from "yaml";
import { z } from "#zod";
import { homePath } from "../../base/files/home-path.js";
import { nearest } from "../../../common/options/nearest.js";
import { weightPrecisions } from "../../model/transformer/weights.js";
import { sftTable } from "../../learn/sft/train.js";
import { keysFrom } from "../config/from-table.js";
import { placePath } from "../config/place-paths.js";

// LLaMA-Factory's keys, as far as its SFT files use them. Those for GPUs and clusters are kept and
// listed; the rest is checked.

const kept = <T extends z.ZodType>(type: T): T => type.meta({ kept: true });
/** More of anything than a run can have: beyond it a number is a slip. */
const most = 1_000_000;
const anything = kept(z.unknown().optional());

const schema = z.strictObject({
  model_name_or_path: z.string(),
  stage: z.literal("sft").default("sft"),
  do_train: z.boolean().default(true),
  finetuning_type: z.enum(["full", "lora"]).default("full"),
  lora_rank: z.number().int().positive().max(8192).default(8),
  /** Unset: twice the rank. */
  lora_alpha: z.number().positive().nullable().default(null),
  /** `all`, or names with commas between. */
  lora_target: z.union([z.string(), z.array(z.string())]).default("all"),
  use_rslora: z.boolean().default(false),
  /** Dropout is not built. */
  lora_dropout: z.literal(0).default(0),
  dataset_dir: z.string().default("data"),
  dataset: z.string(),
  cutoff_len: z.number().int().positive().max(most).default(2048),
  max_samples: z.number().int().positive().max(most).default(1_000_000),
  packing: z.boolean().default(false),
  /** Ours: leave result blocks out of the loss. The published data trains on them. */
  mask_results: z.boolean().default(true),
  output_dir: z.string(),
  logging_steps: z.number().int().positive().max(most).default(10),
  save_steps: z.number().int().positive().max(most).default(500),
  plot_loss: z.boolean().default(false),
  ...keysFrom(sftTable, "sft"),
  /** -1: as many as the epochs have. */
  max_steps: z.union([z.literal(-1), z.number().int().positive().max(1e9)]).default(-1),
  /** A share of the rows, or how many. */
  val_size: z.union([z.number().min(0).lt(1), z.number().int().min(1).max(1e9)]).default(0),
  eval_steps: z.number().int().positive().max(most).default(500),
  /** Names of data sets to evaluate on, in place of `val_size`. */
  eval_dataset: z.string().nullable().default(null),
  /** When to evaluate; unset is `steps` where there is something to evaluate on. */
  eval_strategy: z.enum(["no", "steps", "epoch"]).default("steps"),
  save_total_limit: z.number().int().positive().nullable().default(null),
  /** Checkpoints without the optimiser: smaller, and nothing can go on from them. */
  save_only_model: z.boolean().default(false),
  /** Start anew where there are checkpoints, rather than go on from the last. */
  overwrite_output_dir: z.boolean().default(false),
  /** `true`: go on from the last checkpoint, whatever `overwrite_output_dir` says; or a checkpoint. */
  resume_from_checkpoint: z.union([z.boolean(), z.string()]).nullable().default(null),
  // The chat template comes from the model's tokenizer.
  template: kept(z.string().optional()),
  trust_remote_code: anything,
  deepspeed: anything,
  overwrite_cache: anything,
  preprocessing_num_workers: anything,
  dataloader_num_workers: anything,
  report_to: anything,
  /** Weights in bfloat16 between steps; gradients and averages stay in float32. */
  pure_bf16: z.boolean().default(false),
  /** Of the large matrix products: `bfloat16` rounds their factors and adds in float32. */
  matmul_precision: z.enum(weightPrecisions).default("float32"),
  bf16: anything,
  fp16: anything,
  ddp_timeout: anything,
});

export type SftConfig = z.output<typeof schema>;

/**
 * Reads LLaMA-Factory's YAML as it is, with `key=value` over it. Unknown keys are errors that name the
 * nearest known one.
 */
export async function loadSftConfig(
  path: string,
  overrides: readonly string[] = [],
): Promise<{ config: SftConfig; kept: string[] }> {
  const source = await readFile(homePath(path), "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`Cannot load ${path}: it must be readable (${error.code})`);
  });
  const values = parse(source) as Record<string, unknown>;
  for (const override of overrides) {
    const [, key, value] = /^\+{0,2}(\w+)=([^]*)$/.exec(override) ?? [];
    if (key === undefined) {
      throw new SyntaxError(`Cannot override: it must look like key=value, got ${override}`);
    }
    values[key] = parse(value!) as unknown;
  }
  const unknown = Object.keys(values).find((key) => !Object.hasOwn(schema.shape, key));
  if (unknown !== undefined) {
    const near = nearest(unknown, Object.keys(schema.shape));
    throw new RangeError(
      `Cannot load ${path}: every key must be known, got ${unknown}${near ? `; did you mean ${near}?` : ""}`,
    );
  }
  const checked = schema.safeParse(values);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const key = issue!.path.join(".");
    throw new RangeError(
      `Cannot load ${path}: ${key}: ${issue!.message}, got ${JSON.stringify(values[key])}`,
    );
  }
  const config = { ...checked.data };
  config.output_dir = homePath(config.output_dir);
  const written = new Set(overrides.map((override) => /^\+*(\w+)=/.exec(override)?.[1]));
  for (const key of ["model_name_or_path", "dataset_dir"] as const) {
    // What the command line says, and what nothing says, is seen from the working folder.
    const beside = Object.hasOwn(values, key) && !written.has(key);
    config[key] = placePath(key, config[key], beside ? dirname(homePath(path)) : undefined);
  }
  const { resume_from_checkpoint: from } = config;
  if (typeof from === "string") config.resume_from_checkpoint = homePath(from);
  const shape = schema.shape as Record<string, z.ZodType>;
  const listed = Object.keys(values).filter((key) => shape[key]!.meta()?.["kept"]);
  return { config, kept: listed };
}
