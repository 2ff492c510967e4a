import { defined } from "../../../common/options/defined.js";
import { checkOwnLoss, type OwnLoss, ownLossOf } from "./own-loss.js";
import { copyFile, mkdir, readdir } from "#platform/files";
import { join } from "#platform/path";
import { namesIfThere } from "../../base/files/read-if-there.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import type { Model } from "../../model/transformer/transformer.js";
import { loadAdapter } from "../../model/lora/load-adapter.js";
import { loadModel } from "../../model/load/load-model.js";
import { modelFolder } from "../../model/files/model-folder.js";
import { saveAdapter } from "../../model/lora/save-adapter.js";
import { saveModel } from "../../model/files/save-model.js";
import { isGguf } from "../../model/files/gguf/is-gguf.js";
import { loadOptimizer, saveOptimizer } from "../folder/optimizer-file.js";
import { refuseBroken } from "../folder/refuse-broken.js";
import { DamagedCheckpoint, lastWhole, readSealed, writeSealed } from "../../model/files/sealed.js";
import type { RunFolder } from "../folder/run-folder.js";
import { loadWaiting, saveWaiting } from "./waiting-file.js";
import type { Trainer, TrainerParts, TrainerState } from "./trainer.js";

/** The best validation so far. */
export interface Best {
  step: number;
  value: number;
}

/** Kept in a checkpoint beside weights and optimisers. */
interface Saved {
  trainer: TrainerState;
  best: Best | null;
  /** Updates that the model has been through; earlier versions did not count them. */
  updates?: number;
  /** Its loss, where a program brought it. */
  loss?: OwnLoss;
}

/** Batches that were drawn and not trained on, where there are some. */
const waitingFile = "waiting.jsonl";

/** Where verl keeps adapters, beside the model that has them added. */
const adapterFolder = "lora_adapter";

/** Tokenizer files are saved with every checkpoint, so that each is a model on its own. */
const tokenizerFiles =
  /^(tokenizer.*|special_tokens_map|vocab|added_tokens)\.json$|\.jinja$|merges\.txt$/;

async function copyTokenizer(from: string, to: string): Promise<void> {
  if (isGguf(from)) return (await HfTokenizer.load(from)).save(to);
  for (const name of await namesIfThere(from)) {
    if (tokenizerFiles.test(name)) await copyFile(join(from, name), join(to, name));
  }
}

/** Writes everything a run needs to go on from here into a folder. */
export async function saveCheckpoint(
  trainer: Trainer,
  path: string,
  best: Best | null,
): Promise<void> {
  const { config } = trainer.parts;
  const { model } = trainer.learner;
  await refuseBroken(model);
  const actor = join(path, "actor");
  await mkdir(actor);
  await saveModel(model, actor, { dtype: model.lora ? "float32" : model.weightPrecision });
  if (model.lora) {
    const base = config.actor_rollout_ref.model.path;
    await saveAdapter(model, join(actor, adapterFolder), { base });
  }
  await copyTokenizer(modelFolder(config.actor_rollout_ref.model.path), actor);
  await saveOptimizer(await trainer.learner.state(), join(path, "actor-optimizer.safetensors"));
  if (trainer.critic) {
    await refuseBroken(trainer.critic.model);
    const critic = join(path, "critic");
    await mkdir(critic);
    await saveModel(trainer.critic.model, critic);
    await saveOptimizer(await trainer.critic.state(), join(path, "critic-optimizer.safetensors"));
  }
  const { waiting, ...state } = trainer.state();
  if (waiting) await saveWaiting(join(path, waitingFile), waiting);
  const saved: Saved = {
    ...{ trainer: state, best, updates: model.updates },
    ...defined({ loss: ownLossOf(config) }),
  };
  await writeSealed(path, "state.json", saved);
}

/** The checkpoint to continue from, by `resume_mode`. */
export async function resumeFrom(
  run: RunFolder,
  { config, policy }: TrainerParts,
): Promise<{ path: string; saved: Saved } | undefined> {
  const { resume_mode: mode, resume_from_path: given } = config.trainer;
  if (mode === "disable") return undefined;
  const latest = await run.latest();
  const path =
    mode === "resume_path" ? given : latest === undefined ? undefined : run.checkpointPath(latest);
  if (path === null) {
    throw new RangeError(
      "Cannot resume: resume_mode resume_path needs trainer.resume_from_path, got none",
    );
  }
  if (path === undefined) return undefined;
  // A process may have been killed between a checkpoint and the note of it.
  if (mode === "auto") await run.noteLatest(latest!);
  const saved = await readSealed<Saved>(path, "state.json").catch(async (error: unknown) => {
    if (!(error instanceof DamagedCheckpoint)) throw error;
    throw await withWayOut(error, run, path);
  });
  if (saved === undefined) {
    const missing = `${path} must be a checkpoint of this program, got no state.json`;
    throw await withWayOut(new DamagedCheckpoint(missing), run, path);
  }
  checkOwnLoss(saved.loss, config, path);
  if ((await namesIfThere(path)).includes(waitingFile)) {
    saved.trainer.waiting = await loadWaiting(join(path, waitingFile), policy.tokenizer);
  }
  return { path, saved };
}

/** What is wrong with a checkpoint, and how the run goes on without it. */
async function withWayOut(
  error: DamagedCheckpoint,
  run: RunFolder,
  path: string,
): Promise<DamagedCheckpoint> {
  const paths = (await run.checkpoints()).map((step) => run.checkpointPath(step));
  const good = await lastWhole(paths, "state.json", path);
  const way =
    good === undefined
      ? "no other checkpoint of the run is whole: begin anew with trainer.resume_mode=disable"
      : `the last whole checkpoint is ${good}: go on from it with trainer.resume_mode=resume_path trainer.resume_from_path=${good}`;
  return new DamagedCheckpoint(`Cannot resume: ${error.message}; ${way}`, { cause: error });
}

/** Puts a checkpoint's weights and moments into a trainer. */
export async function restore(
  trainer: Trainer,
  { path, saved }: { path: string; saved: Saved },
): Promise<void> {
  const { model } = trainer.learner;
  const actor = join(path, "actor");
  if (model.lora) {
    await loadAdapter(model, join(actor, adapterFolder));
  } else if ((await readdir(actor)).includes(adapterFolder)) {
    throw new RangeError(
      `Cannot resume: actor_rollout_ref.model.lora_rank must be that of the checkpoint's adapters, got 0 for ${path}`,
    );
  } else await overwrite(model, actor);
  model.updates = saved.updates ?? trainer.step;
  trainer.learner.restore(await loadOptimizer(join(path, "actor-optimizer.safetensors")));
  if (trainer.critic) {
    await overwrite(trainer.critic.model, join(path, "critic"));
    trainer.critic.restore(await loadOptimizer(join(path, "critic-optimizer.safetensors")));
  }
}

async function overwrite(model: Model, folder: string): Promise<void> {
  const saved = await loadModel(folder);
  model.copyFrom(saved);
  saved.dispose();
}
