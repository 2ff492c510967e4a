// What verl needs to train a tiny model on this machine's CPU, with a tool and a reward of a user's.
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LoadOptions } from "../../src/run/config/options.js";

export const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");
/** A Python that has verl, where there is one. */
export const verlPython = process.env.ARPO_LAB_VERL_PYTHON;
export const verlMissing =
  verlPython === undefined
    ? "ARPO_LAB_VERL_PYTHON names no Python with verl 0.9.1: its training on a CPU is left out"
    : false;

const overrides = [
  ...["data.train_files=tasks:calc?train=8", "data.val_files=tasks:calc?test=2"],
  ...["data.train_batch_size=4", "data.max_response_length=64"],
  ...["actor_rollout_ref.rollout.n=4", "actor_rollout_ref.rollout.initial_rollouts=2"],
  ...["actor_rollout_ref.actor.ppo_mini_batch_size=4", "trainer.total_training_steps=2"],
  ...["trainer.val_before_train=false", "trainer.test_freq=-1", "trainer.save_freq=-1"],
  ...["trainer.logger=[console]"],
  // AEPO's loss refuses to go without entropies: that it trains says that verl's worker hands them over.
  "actor_rollout_ref.actor.enable_entropy_balanced_clipping=true",
  "actor_rollout_ref.actor.enable_entropy_balanced_advantage=true",
  `actor_rollout_ref.model.path=${root}/data/models/tiny`,
];

/** A user's tool and reward, which run here, and beside verl's worker. */
const tool = `import { calculator } from "arpo-lab/tools";

export default { ...calculator(), name: "sums" };
`;
const reward = `import type { JudgedTrajectory } from "arpo-lab/learn";

export const judge = ({ response, groundTruth, toolCalls, tree }: JudgedTrajectory) => ({
  score: Number(response.includes(String(groundTruth))) + toolCalls.length / 8 - response.length / 1000,
  reason: tree.kind,
});
`;

/** What a CPU takes instead of GPUs, in verl's own names. */
export const onCpu = [
  ...["actor_rollout_ref.rollout.name=hf_cpu", "trainer.device=cpu", "trainer.n_gpus_per_node=1"],
  "actor_rollout_ref.rollout.tensor_model_parallel_size=1",
  "data.dataloader_num_workers=0",
  ...["trainer.nnodes=1", "reward.num_workers=1"],
  "transfer_queue.backend.SimpleStorage.num_data_storage_units=1",
  "actor_rollout_ref.model.use_remove_padding=false",
  "+actor_rollout_ref.model.override_config.attn_implementation=sdpa",
  ...["actor_rollout_ref.actor.strategy=fsdp2", "actor_rollout_ref.ref.strategy=fsdp2"],
  ...["actor_rollout_ref.actor.use_torch_compile=false"],
  ...["actor_rollout_ref.actor.use_dynamic_bsz=false"],
  "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4",
  "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4",
  "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=4",
  // Parameters that wait beside a GPU are pinned by its driver.
  ...["actor_rollout_ref.ref.fsdp_config.param_offload=false"],
  ...["actor_rollout_ref.actor.use_kl_loss=false"],
  ...["actor_rollout_ref.rollout.free_cache_engine=false"],
  ...["actor_rollout_ref.rollout.agent.num_workers=1"],
];

/** A cluster of its own, in which a processor counts as a GPU. */
export const ownCluster = [
  ...["+ray_kwargs.ray_init.num_gpus=1", "ray_kwargs.ray_init.num_cpus=16"],
  "+ray_kwargs.ray_init.include_dashboard=false",
];

/** What its processes find in their environment. */
export const cpuEnvironment = (python: string): Record<string, string> => ({
  ...{ PYTHON: python, PATH: `${dirname(python)}:${process.env.PATH ?? ""}` },
  PYTHONPATH: `${root}/tests/python/verl_cpu:${root}/tests/python`,
  ...{ VERL_USE_EXTERNAL_MODULES: "verl_on_cpu", VERL_PLATFORM: "cpu" },
  ...{ VERL_ENGINE_DEVICE: "cuda", VERL_ENGINE_VENDOR: "nvidia", RAY_worker_niceness: "0" },
  ...{ HF_HUB_OFFLINE: "1", OMP_NUM_THREADS: "1", TOKENIZERS_PARALLELISM: "false" },
});

/** Two steps of the shipped model under AEPO's loss, with a tool and a reward in TypeScript, written into a folder. */
export async function experimentIn(
  folder: string,
): Promise<{ experiment: LoadOptions; own: { tool: string; reward: string } }> {
  const own = { tool: join(folder, "sums.ts"), reward: join(folder, "reward.ts") };
  await writeFile(own.tool, tool);
  await writeFile(own.reward, reward);
  const inNode = [
    `actor_rollout_ref.rollout.tools.tool_instances.python.class_path=${own.tool}`,
    ...[`custom_reward_function.path=${own.reward}`, "custom_reward_function.name=judge"],
  ];
  return { experiment: { preset: ["arpo", "tiny"], overrides: [...overrides, ...inNode] }, own };
}
