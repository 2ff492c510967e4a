import { stat } from "#platform/files";
import { basename, join, resolve } from "#platform/path";
import type { Conversation } from "../../learn/sft/conversation.js";
import { loadDataset } from "../../learn/sft/dataset-info.js";
import { encodeConversation, type Example, noteTags, pack } from "../../learn/sft/encode.js";
import { type SftState, type SftStep, sftTable, SftTrainer } from "../../learn/sft/train.js";
import { modelFolder } from "../../model/files/model-folder.js";
import { saveModel } from "../../model/files/save-model.js";
import { DamagedCheckpoint, lastWhole, readSealed, writeSealed } from "../../model/files/sealed.js";
import { loadModel } from "../../model/load/load-model.js";
import { addLora } from "../../model/lora/add-lora.js";
import { loadAdapter } from "../../model/lora/load-adapter.js";
import { saveAdapter } from "../../model/lora/save-adapter.js";
import { setWeightPrecision } from "../../model/precision/set-weight-precision.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import type { Model } from "../../model/transformer/transformer.js";
import { Random } from "../../base/random/random.js";
import { ready } from "../../tensor/backends.js";
import { loadOptimizer, saveOptimizer } from "../folder/optimizer-file.js";
import { optionsIn } from "../config/from-table.js";
import { refuseBroken } from "../folder/refuse-broken.js";
import { RunFolder, tuningLayout as layout } from "../folder/run-folder.js";
import type { SftConfig } from "./sft-config.js";

/** The examples that a configuration names, to train on and to evaluate on. */
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

/** A step with what there is of its time; the log holds the step alone. */
type SftRunStep = SftStep & { seconds: number };

const mergedFolder = "merged";
const stateFile = "trainer_state.json";

interface Parts {
  model: Model;
  tokenizer: HfTokenizer;
  train: Example[];
  evaluation: Example[];
  run: RunFolder;
  stopping: AbortSignal | undefined;
}

/** How a run of fine-tuning is opened, besides its configuration. */
interface SftRunOptions {
  /** Where relative data folders are looked for if not in the working folder. */
  base?: string;
  /** Ends the run before its next step. */
  signal?: AbortSignal;
  /** The same, and what was done is saved first. */
  stopping?: AbortSignal;
  /** Told what was left out, and what a person should know. */
  note?: (message: string) => void;
}

/**
 * Supervised fine-tuning as a LLaMA-Factory file describes it, in its output folder: checkpoints,
 * evaluation, a log of every step. A run that was killed continues from its last checkpoint and ends with
 * the bytes of one that was not. Which runs go on follows LLaMA-Factory: those without
 * `overwrite_output_dir`, and all with `resume_from_checkpoint: true`. With `finetuning_type: lora` the
 * folders hold the adapters, and `merged` holds the model that has them added.
 */
export class SftRun implements AsyncIterable<SftRunStep> {
  readonly #log: SftStep[] = [];
  readonly #parts: Parts;

  private constructor(
    readonly config: SftConfig,
    readonly trainer: SftTrainer,
    /** Steps that an earlier process did. */
    readonly before: number,
    parts: Parts,
  ) {
    this.#parts = parts;
  }

  /** Reads data and model, and the last checkpoint where the run continues. */
  static async open(config: SftConfig, options: SftRunOptions = {}): Promise<SftRun> {
    await ready();
    const run = await RunFolder.own(resolve(config.output_dir), layout);
    try {
      return await SftRun.#openAlone(config, options, run);
    } catch (error) {
      run.release();
      throw error;
    }
  }

  static async #openAlone(
    config: SftConfig,
    options: SftRunOptions,
    run: RunFolder,
  ): Promise<SftRun> {
    const { base = ".", signal, note = () => undefined } = options;
    const from = await checkpointOf(config, run, note);
    const tokenizer = await HfTokenizer.load(modelFolder(config.model_name_or_path));
    const { train, evaluation } = await readExamples(config, base, tokenizer, note);
    noteTags(train, tokenizer);
    const model = await loadModel(modelFolder(config.model_name_or_path));
    await setWeightPrecision(model, config.pure_bf16 ? "bfloat16" : "float32");
    model.matmulPrecision = config.matmul_precision;
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
      const state = await stateOf(from, run);
      if (model.lora) await loadAdapter(model, from);
      else {
        const saved = await loadModel(from);
        model.copyFrom(saved);
        saved.dispose();
      }
      const optimizer = await loadOptimizer(join(from, "optimizer.safetensors"));
      resume = { ...state, optimizer };
    }
    const trainer = new SftTrainer(model, train, {
      ...optionsIn(sftTable, { sft: config }),
      ...(config.max_steps > 0 ? { steps: config.max_steps } : {}),
      ...(evaluation.length > 0 && config.eval_strategy !== "no"
        ? {
            evaluation,
            evalEvery: config.eval_strategy === "epoch" ? "epoch" : config.eval_steps,
          }
        : {}),
      resume,
      signal,
    });
    const before = resume?.step ?? 0;
    const opened = new SftRun(config, trainer, before, {
      model,
      tokenizer,
      train,
      evaluation,
      run,
      stopping: options.stopping,
    });
    await opened.#rewind(from, note);
    return opened;
  }

  /** Where everything is saved. */
  get folder(): string {
    return this.#parts.run.path;
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
    const { run, model, tokenizer, stopping } = this.#parts;
    try {
      if (this.before < this.trainer.totalSteps) stopping?.throwIfAborted();
      const { save_steps: every, save_total_limit: most } = this.config;
      let last = performance.now();
      for await (const step of this.trainer) {
        this.#log.push(step);
        const done = step.step + 1;
        await run.append(layout.log, { ...step });
        const stops = stopping?.aborted === true && done < this.trainer.totalSteps;
        if (done % every === 0 || done === this.trainer.totalSteps || stops) {
          await run.checkpoint(done, (path) => this.#saveCheckpoint(path));
          if (most !== null) await run.prune(most);
        }
        const now = performance.now();
        yield { ...step, seconds: (now - last) / 1000 };
        if (stops) stopping.throwIfAborted();
        last = performance.now();
      }
      await run.save("the model", async () => {
        await this.#saveModel(this.folder);
        if (!model.lora) return;
        await saveModel(model, join(this.folder, mergedFolder));
        await tokenizer.save(join(this.folder, mergedFolder));
      });
    } finally {
      run.release();
    }
  }

  dispose(): void {
    this.#parts.run.release();
    this.trainer.dispose();
    this.#parts.model.dispose();
  }

  async #saveModel(folder: string): Promise<void> {
    const { model } = this.#parts;
    await refuseBroken(model);
    // A folder that holds both would have its adapters added twice by transformers.
    if (model.lora) await saveAdapter(model, folder, { base: this.config.model_name_or_path });
    else await saveModel(model, folder, { dtype: model.weightPrecision });
    await this.#parts.tokenizer.save(folder);
  }

  async #saveCheckpoint(path: string): Promise<void> {
    await this.#saveModel(path);
    const { optimizer, ...state } = await this.trainer.state();
    if (!this.config.save_only_model) {
      await saveOptimizer(optimizer, join(path, "optimizer.safetensors"));
    }
    await writeSealed(path, stateFile, state);
  }

  /** Forgets what came behind the checkpoint it continues from: it will be done again. */
  async #rewind(from: string | undefined, note: (message: string) => void): Promise<void> {
    const { run } = this.#parts;
    await run.rewind(this.before - 1, { from, first: 0, warn: note });
    this.#log.push(...((await run.lines(layout.log)) as unknown as SftStep[]));
    await run.dropAfter(this.before);
    if (this.config.save_total_limit !== null) await run.prune(this.config.save_total_limit);
  }
}

/** The checkpoint a run continues from, by LLaMA-Factory's rules. */
async function checkpointOf(
  config: SftConfig,
  run: RunFolder,
  note: (message: string) => void,
): Promise<string | undefined> {
  const { resume_from_checkpoint: given, overwrite_output_dir: overwrite } = config;
  const last = await run.latest();
  const path = last === undefined ? undefined : run.checkpointPath(last);
  if (typeof given === "string") return usable(resolve(given), run);
  if (given === true || (given === null && !overwrite)) return path && usable(path, run);
  if (path !== undefined) {
    note(
      `${run.path} has ${basename(path)} and is begun anew; resume_from_checkpoint=true goes on from there`,
    );
  }
  return undefined;
}

/** What a checkpoint says of the run; one that is not as it was saved is refused, with the last that is. */
async function stateOf(path: string, run: RunFolder): Promise<SftState> {
  try {
    return (await readSealed<SftState>(path, stateFile))!;
  } catch (error) {
    if (!(error instanceof DamagedCheckpoint)) throw error;
    throw await withWayOut(error, run, path);
  }
}

/** What is wrong with a checkpoint, and how the run is resumed without it. */
async function withWayOut(
  error: DamagedCheckpoint,
  run: RunFolder,
  path: string,
): Promise<DamagedCheckpoint> {
  const paths = (await run.checkpoints()).map((step) => run.checkpointPath(step));
  const good = await lastWhole(paths, stateFile, path);
  const way =
    good === undefined
      ? "no other checkpoint of the run is whole: start again with overwrite_output_dir=true"
      : `the last whole checkpoint is ${good}: resume from it with resume_from_checkpoint=${good}`;
  return new DamagedCheckpoint(`Cannot resume: ${error.message}; ${way}`, { cause: error });
}

async function usable(path: string, run: RunFolder): Promise<string> {
  for (const name of [stateFile, "optimizer.safetensors"]) {
    const fault = await stat(join(path, name)).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error,
    );
    if (fault === undefined) continue;
    const missing = `${path} must be a checkpoint with its optimizer, got none (${name}: ${fault.code})`;
    throw await withWayOut(new DamagedCheckpoint(missing, { cause: fault }), run, path);
  }
  return path;
}
