import { needsReference } from "../../run/trainer/reference-of.js";
import { needsOf } from "../../learn/estimators/registry.js";
import { keptPerLayer } from "../../learn/update/passes.js";
import { gigabytes } from "../machine/host.js";
import { findings } from "../check.js";
import { type ConfigContext, longestRow, rowsOf, type Rule } from "./context.js";

const { ok, slow, warning, error } = findings("cost");
const FLOAT = 4;

/** What the lab itself takes before it holds a model. */
const program = 160 * 2 ** 20;

/** The parts of a run's memory, in bytes, estimated from shapes and the longest row. */
export function memoryParts(
  context: ConfigContext,
  longest = longestRow(context),
): Record<string, number> {
  const { config, model, parameters } = context;
  if (!model || parameters === undefined) return {};
  const { actor, rollout, model: how } = config.actor_rollout_ref;
  const row = Math.min(longest, model.contextLength);
  const weights = parameters * FLOAT;
  const critic = needsOf(config.algorithm.adv_estimator) === "values" ? 1 : 0;
  const atOnce = Math.min(rowsOf(context), rollout.max_num_seqs);
  const keys = 2 * model.layers * model.kvHeads * model.headDim * FLOAT;
  const perPass = actor.ppo_micro_batch_size_per_gpu ?? actor.ppo_micro_batch_size;
  const tokens =
    actor.use_dynamic_bsz || perPass === null
      ? Math.max(row, Math.min(actor.ppo_max_token_len_per_gpu, rowsOf(context) * row))
      : perPass * row;
  // With adapters, projections stay apart and each keeps its own.
  const layer = tokens * keptPerLayer(model) * FLOAT * (how.lora_rank > 0 ? 1.4 : 1);
  const activations = how.enable_gradient_checkpointing
    ? layer + model.layers * tokens * model.hiddenSize * FLOAT
    : layer * model.layers;
  return {
    "the lab itself": program,
    "weights, gradients and Adam's averages": (1 + critic) * 4 * weights,
    ...(needsReference(context.config) ? { "the reference policy": weights } : {}),
    "the cache of the trajectories being written": atOnce * row * keys,
    "a training pass": activations,
    "its logits": Math.min(tokens, 2048) * model.vocabSize * FLOAT * 2,
    // Passes take turns; about half of what one took is not the system's again when the next begins.
    ...(critic ? { "a pass of the critic": activations / 2 } : {}),
  };
}

export const duration = (seconds: number) =>
  seconds < 90
    ? `${Math.ceil(seconds)} s`
    : seconds < 5400
      ? `${Math.round(seconds / 60)} min`
      : seconds < 86400 * 2
        ? `${(seconds / 3600).toFixed(1)} h`
        : `${Math.round(seconds / 86400)} days`;

/** Memory and time of a run on this machine. */
export const cost: Rule = function* (context) {
  const { config, memory, parameters, speed } = context;
  const parts = Object.entries(memoryParts(context));
  if (parts.length === 0 || parameters === undefined) return;
  const total = parts.reduce((sum, [, bytes]) => sum + bytes, 0);
  const largest = parts.sort((a, b) => b[1] - a[1])[0]!;
  const said = `a run needs about ${gigabytes(total)} of ${gigabytes(memory)}, most of it ${largest[0]} (${gigabytes(largest[1])})`;
  const helps: Record<string, string> = {
    "weights, gradients and Adam's averages": "a smaller model",
    "the reference policy": "actor_rollout_ref.actor.kl_loss_coef=0, as the published runs have it",
    "the cache of the trajectories being written":
      "a smaller actor_rollout_ref.rollout.max_num_seqs (no tree depends on it), or shorter responses",
    "a training pass":
      "actor_rollout_ref.model.enable_gradient_checkpointing=true, or a smaller ppo_max_token_len_per_gpu or ppo_micro_batch_size_per_gpu",
    "a pass of the critic": "a smaller ppo_max_token_len_per_gpu",
    "its logits": "a smaller ppo_max_token_len_per_gpu",
  };
  if (total > memory) yield error("out-of-memory", said, helps[largest[0]]);
  else if (total > memory * 0.7) yield warning("memory-tight", said, helps[largest[0]]);
  else yield ok("memory-fits", said);
  if (speed === undefined) return;
  const rows = rowsOf(context);
  const tokens = rows * longestRow(context);
  const training = config.actor_rollout_ref.model.enable_gradient_checkpointing ? 8 : 6;
  const passes =
    2 +
    (needsReference(context.config) ? 2 : 0) +
    training * config.actor_rollout_ref.actor.ppo_epochs;
  const seconds = (tokens * 2 * parameters + tokens * passes * parameters) / speed;
  const words = `a step of ${rows} trajectories takes at most about ${duration(seconds)} here, when all trajectories are as long as they may be`;
  const fix = "fewer or shorter trajectories, a smaller model, or a cluster (see export)";
  yield seconds > 600 ? slow("slow-step", words, fix) : ok("step-time", words);
};
