import { appendFile, mkdir, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  type Conversation,
  type Example,
  SftTrainer,
  type SftState,
  type SftStep,
  encodeConversation,
  loadDataset,
  pack,
} from "../../learn/index.js";
import {
  HfTokenizer,
  type Model,
  addLora,
  loadAdapter,
  loadModel,
  saveAdapter,
  saveModel,
  modelFolder,
  writeFault,
} from "../../model/index.js";
import { Random } from "../../random/index.js";
import { ready } from "../../tensor/index.js";
import { makeFolder } from "../folder/make-folder.js";
import { lockFolder } from "../folder/lock-folder.js";
import { loadOptimizer, saveOptimizer } from "../folder/optimizer-file.js";
import { refuseBroken } from "../folder/refuse-broken.js";
import { writeWhole } from "../folder/run-folder.js";
import type { SftConfig } from "./sft-config.js";

/** A step with what there is of its time; the log holds the step alone. */
export type SftRunStep = SftStep & { seconds: number };

const logFile = "trainer_log.jsonl";
const mergedFolder = "merged";
const stateFile = "trainer_state.json";
const checkpointName = (step: number) => `checkpoint-${step}`;

interface Parts {
  model: Model;
  tokenizer: HfTokenizer;
  train: Example[];
  evaluation: Example[];
  /** Lets other processes write the folder. */
  release: () => void;
}

/**
 * Supervised fine-tuning as a LLaMA-Factory file describes it, in its output folder: checkpoints,
 * evaluation, a log of every step. A run that was killed goes on from its last checkpoint and ends with
 * the bytes of one that was not. Which runs go on follows LLaMA-Factory: those without
 * `overwrite_output_dir`, and all with `resume_from_checkpoint: true`. With `finetuning_type: lora` the
 * folders hold the adapters, and `merged` holds the model that has them added.
 */
export class SftRun implements AsyncIterable<SftRunStep> {
  readonly #log: SftStep[] = [];
  readonly #parts: Parts;

  private constructor(
    readonly config: SftConfig,
    readonly folder: string,
    readonly trainer: SftTrainer,
    /** Steps that an earlier process did. */
    readonly before: number,
    parts: Parts,
  ) {
    this.#parts = parts;
  }

  /** Reads data and model, and the last checkpoint where the run goes on. */
  static async open(
    config: SftConfig,
    options: {
      /** Where relative data folders are looked for if not in the working folder. */
      base?: string;
      signal?: AbortSignal;
      note?: (message: string) => void;
    } = {},
  ): Promise<SftRun> {
    await ready();
    const folder = resolve(config.output_dir);
    await makeFolder(folder).catch((error: unknown) => {
      throw writeFault(error, `open the output folder ${folder}`);
    });
    const release = await lockFolder(folder);
    try {
      return await SftRun.#openAlone(config, options, folder, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  static async #openAlone(
    config: SftConfig,
    options: { base?: string; signal?: AbortSignal; note?: (message: string) => void },
    folder: string,
    release: () => void,
  ): Promise<SftRun> {
    const { base = ".", signal, note = () => undefined } = options;
    const from = await checkpointOf(config, folder, note);
    const tokenizer = await HfTokenizer.load(modelFolder(config.model_name_or_path));
    const { train, evaluation } = await readExamples(config, base, tokenizer, note);
    const model = await loadModel(modelFolder(config.model_name_or_path));
    if (config.finetuning_type === "lora") {
      addLora(model, {
        rank: config.lora_rank,
        alpha: config.lora_alpha ?? 2 * config.lora_rank,
        targetModules: config.lora_target,
        rslora: config.use_rslora,
        seed: config.seed,
      });
    }
    let resume: SftState | undefined;
    if (from !== undefined) {
      if (model.lora) await loadAdapter(model, from);
      else {
        const saved = await loadModel(from);
        model.copyFrom(saved);
        saved.dispose();
      }
      const state = JSON.parse(await readFile(join(from, stateFile), "utf8")) as SftState;
      const optimizer = await loadOptimizer(join(from, "optimizer.safetensors"));
      resume = { ...state, optimizer };
    }
    const trainer = new SftTrainer(model, train, {
      learningRate: config.learning_rate,
      batchSize: config.per_device_train_batch_size,
      accumulation: config.gradient_accumulation_steps,
      epochs: config.num_train_epochs,
      ...(config.max_steps > 0 ? { maxSteps: config.max_steps } : {}),
      schedule: config.lr_scheduler_type,
      warmupRatio: config.warmup_ratio,
      weightDecay: config.weight_decay,
      maxNorm: config.max_grad_norm,
      seed: config.seed,
      ...(evaluation.length > 0 && config.eval_strategy !== "no"
        ? {
            evaluation,
            evalEvery: config.eval_strategy === "epoch" ? "epoch" : config.eval_steps,
            evalBatchSize: config.per_device_eval_batch_size,
          }
        : {}),
      ...(resume ? { resume } : {}),
      ...(signal ? { signal } : {}),
    });
    const before = resume?.step ?? 0;
    const run = new SftRun(config, folder, trainer, before, {
      model,
      tokenizer,
      train,
      evaluation,
      release,
    });
    await run.#rewind(before);
    return run;
  }

  /** Examples to train and to evaluate on. */
  get counts(): { train: number; evaluation: number } {
    return { train: this.#parts.train.length, evaluation: this.#parts.evaluation.length };
  }

  /** Every step so far, those of earlier processes included. */
  get log(): readonly SftStep[] {
    return this.#log;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SftRunStep> {
    try {
      const { save_steps: every, save_total_limit: most } = this.config;
      let last = performance.now();
      for await (const step of this.trainer) {
        this.#log.push(step);
        const done = step.step + 1;
        await this.#saving(logFile, () =>
          appendFile(join(this.folder, logFile), `${JSON.stringify(step)}\n`),
        );
        if (done % every === 0 || done === this.trainer.totalSteps) {
          await this.#checkpoint(done);
          if (most !== null) await this.#prune(most);
        }
        const now = performance.now();
        yield { ...step, seconds: (now - last) / 1000 };
        last = performance.now();
      }
      await this.#saving("the model", async () => {
        await this.#saveModel(this.folder);
        if (!this.#parts.model.lora) return;
        await saveModel(this.#parts.model, join(this.folder, mergedFolder));
        await this.#parts.tokenizer.save(join(this.folder, mergedFolder));
      });
    } finally {
      this.#parts.release();
    }
  }

  dispose(): void {
    this.#parts.release();
    this.#parts.model.dispose();
  }

  async #saveModel(folder: string): Promise<void> {
    const { model } = this.#parts;
    await refuseBroken(model);
    // A folder that holds both would have its adapters added twice by transformers.
    if (model.lora) await saveAdapter(model, folder, { base: this.config.model_name_or_path });
    else await saveModel(model, folder);
    await this.#parts.tokenizer.save(folder);
  }

  async #checkpoint(step: number): Promise<void> {
    const final = join(this.folder, checkpointName(step));
    const temporary = `${final}.${process.pid}.tmp`;
    await this.#saving(checkpointName(step), async () => {
      try {
        await mkdir(temporary);
        await this.#saveModel(temporary);
        const { optimizer, ...state } = await this.trainer.state();
        if (!this.config.save_only_model) {
          await saveOptimizer(optimizer, join(temporary, "optimizer.safetensors"));
        }
        await writeWhole(join(temporary, stateFile), `${JSON.stringify(state)}\n`);
        await rm(final, { recursive: true, force: true });
        await rename(temporary, final);
      } finally {
        await rm(temporary, { recursive: true, force: true });
      }
    });
  }

  async #prune(most: number): Promise<void> {
    const steps = await checkpoints(this.folder);
    for (const step of steps.slice(0, -most)) {
      await rm(join(this.folder, checkpointName(step)), { recursive: true });
    }
  }

  /** Forgets what came behind a checkpoint: it will be done again. */
  async #rewind(steps: number): Promise<void> {
    const text = await readFile(join(this.folder, logFile), "utf8").catch(() => "");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    for (const line of whole.filter(Boolean)) {
      const step = JSON.parse(line) as SftStep;
      if (step.step < steps) this.#log.push(step);
    }
    const kept = this.#log.map((step) => `${JSON.stringify(step)}\n`).join("");
    await this.#saving(logFile, async () => {
      await writeWhole(join(this.folder, logFile), kept);
      for (const name of await readdir(this.folder)) {
        const step = /^checkpoint-(\d+)$/.exec(name)?.[1];
        const late = step !== undefined && Number(step) > steps;
        if (late || name.endsWith(".tmp")) {
          await rm(join(this.folder, name), { recursive: true, force: true });
        }
      }
      if (this.config.save_total_limit !== null) await this.#prune(this.config.save_total_limit);
    });
  }

  async #saving(what: string, save: () => Promise<void>): Promise<void> {
    try {
      await save();
    } catch (error) {
      throw writeFault(error, `save ${what} in ${this.folder}`);
    }
  }
}

async function checkpoints(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .flatMap((name) => /^checkpoint-(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** The checkpoint a run goes on from, by LLaMA-Factory's rules. */
async function checkpointOf(
  config: SftConfig,
  folder: string,
  note: (message: string) => void,
): Promise<string | undefined> {
  const { resume_from_checkpoint: given, overwrite_output_dir: overwrite } = config;
  const last = (await checkpoints(folder)).pop();
  const path = last === undefined ? undefined : join(folder, checkpointName(last));
  if (typeof given === "string") return usable(resolve(given));
  if (given === true || (given === null && !overwrite)) return path && usable(path);
  if (path !== undefined) {
    note(
      `${folder} has ${checkpointName(last!)} and is begun anew; resume_from_checkpoint=true goes on from there`,
    );
  }
  return undefined;
}

async function usable(path: string): Promise<string> {
  for (const name of [stateFile, "optimizer.safetensors"]) {
    await stat(join(path, name)).catch(() => {
      throw new RangeError(
        `Cannot resume: ${path} must be a checkpoint with its optimiser, got none (${name} is missing)`,
      );
    });
  }
  return path;
}

async function readExamples(
  config: SftConfig,
  base: string,
  tokenizer: HfTokenizer,
  note: (message: string) => void,
): Promise<{ train: Example[]; evaluation: Example[] }> {
  const here = resolve(config.dataset_dir);
  const inWorkingFolder = await stat(here).then(
    () => true,
    () => false,
  );
  const folder = inWorkingFolder ? here : resolve(base, config.dataset_dir);
  const encode = (conversation: Conversation) =>
    encodeConversation(conversation, tokenizer, {
      cutoff: config.cutoff_len,
      maskResults: config.mask_results,
    });
  const read = async (names: string) => {
    const { conversations, skipped } = await loadDataset(names, folder);
    for (const [reason, count] of Object.entries(skipped)) {
      note(`${count} rows of ${names} skipped: ${reason}`);
    }
    if (conversations.length > 0) return conversations.slice(0, config.max_samples).map(encode);
    throw new RangeError(
      `Cannot fine-tune: there must be a conversation in ${names} (${folder}), got none`,
    );
  };
  const all = Random.from(config.seed)
    .split("split")
    .shuffle(await read(config.dataset));
  const held =
    config.eval_dataset !== null
      ? 0
      : config.val_size < 1
        ? Math.floor(all.length * config.val_size)
        : config.val_size;
  const evaluation =
    config.eval_dataset === null ? all.slice(0, held) : await read(config.eval_dataset);
  const train = all.slice(held);
  return { train: config.packing ? pack(train, config.cutoff_len) : train, evaluation };
}
