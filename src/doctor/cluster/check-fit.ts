import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../run/config/schema.js";
import { modelFolder } from "../../model/files/model-folder.js";
import type { RayNode } from "../../scale/ray/ray-api.js";
import type { Check } from "../check.js";

/** Memory of a card in GB, by what Ray calls it; the smaller where there are two of a name. */
const cards: Readonly<Record<string, number>> = {
  ...{ V100: 16, T4: 16, A10G: 24, L4: 24, "A100-40G": 40, A100: 40, "A100-80G": 80, L40S: 48 },
  ...{ H100: 80, H200: 141, B200: 180, "AMD-Instinct-MI300X-OAM": 192 },
};

const area = "cluster";

/** GPUs that a configuration asks for, against those that are there. */
export function checkGpus({ trainer }: Config, nodes: readonly RayNode[]): Check {
  const { nnodes, n_gpus_per_node: each } = trainer;
  const fitting = nodes.filter(({ gpus }) => gpus >= each).length;
  const found = `verl asks for ${nnodes} nodes with ${each} GPUs each; ${fitting} of the ${nodes.length} there have them`;
  const about = { id: "cluster-gpus", area, found } as const;
  if (fitting >= nnodes) return { ...about, status: "ok" };
  const most = Math.max(0, ...nodes.map(({ gpus }) => gpus));
  const fix = `trainer.nnodes and trainer.n_gpus_per_node (${most} at most), or more nodes`;
  return { ...about, status: "error", fix };
}

/** Parameters in billions: of the model's own sizes where it is here, else what its name says. */
function billions(path: string): number | undefined {
  const file = join(modelFolder(path), "config.json");
  if (existsSync(file)) {
    const said = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    const size = (key: string): number => Number(said[key] ?? NaN);
    const [width, layers, inner] = [
      size("hidden_size"),
      size("num_hidden_layers"),
      size("intermediate_size"),
    ];
    const heads = size("num_attention_heads");
    const keys = Number(said["num_key_value_heads"] ?? heads);
    const head = Number(said["head_dim"] ?? width / heads);
    const attention = 2 * width * head * (heads + keys);
    const words = size("vocab_size") * width * (said["tie_word_embeddings"] === true ? 1 : 2);
    const all = layers * (attention + 3 * width * inner) + words;
    if (Number.isFinite(all)) return all / 1e9;
  }
  const named = /(\d+(?:\.\d+)?)\s*b\b/i.exec(path)?.[1];
  return named === undefined ? undefined : Number(named);
}

const shown = (gb: number): string => (gb < 1 ? gb.toFixed(3) : gb.toFixed(0));

/**
 * Whether the model fits, by arithmetic: 16 bytes a parameter over all cards to train (FSDP), two on each group of
 * cards that samples. What rows take comes on top.
 */
export function checkModelFits(config: Config, nodes: readonly RayNode[]): Check {
  const { model, rollout, actor } = config.actor_rollout_ref;
  const { nnodes, n_gpus_per_node: each } = config.trainer;
  const about = { id: "cluster-model", area } as const;
  const size = billions(model.path);
  if (size === undefined) {
    const found = `how large ${model.path} is says neither a folder of this machine nor its name`;
    return { ...about, status: "note", found };
  }
  const offloaded = actor.fsdp_config.optimizer_offload && actor.fsdp_config.param_offload;
  const kept = offloaded || model.lora_rank > 0 ? 2 : 16;
  const training = (kept * size) / (nnodes * each);
  const split = rollout.tensor_model_parallel_size;
  const sampling = (2 * size) / split;
  const names = [...new Set(nodes.flatMap(({ accelerators }) => accelerators))];
  const known = names.map((name) => cards[name]).filter((gb) => gb !== undefined);
  const memory = known.length > 0 ? Math.min(...known) : undefined;
  const of =
    memory === undefined
      ? "of memory nobody says how large"
      : `of ${memory} GB (${names.join(", ")})`;
  const found = `${shown(size)} billion parameters: ${shown(training)} GB a card to train, ${shown(sampling)} GB to sample, on cards ${of}; rows come on top`;
  if (memory === undefined) return { ...about, status: "note", found };
  if (training > 0.8 * memory) {
    const fix =
      "more GPUs, actor_rollout_ref.actor.fsdp_config.param_offload and optimizer_offload, or actor_rollout_ref.model.lora_rank";
    return { ...about, status: "error", found, fix };
  }
  if (sampling > rollout.gpu_memory_utilization * memory) {
    const fix = "actor_rollout_ref.rollout.tensor_model_parallel_size, or gpu_memory_utilization";
    return { ...about, status: "error", found, fix };
  }
  return { ...about, status: "ok", found };
}
