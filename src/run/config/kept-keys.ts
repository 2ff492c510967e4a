import { z } from "#zod";
import {
  atLeast,
  flag,
  free,
  number,
  optionalCount,
  optionalText,
  positive,
  section,
  share,
  text,
} from "./kinds.js";

// Every key of verl and ARPO that does nothing here, most of them because they mean something only on a
// cluster (FSDP, vLLM, Ray). They are checked, kept for export and listed, and nothing reads them.

/** How FSDP shards a model; nothing to shard on one machine. */
const fsdp = section({
  wrap_policy: section({
    min_num_params: number(0),
    transformer_layer_cls_to_wrap: z.unknown().optional(),
  }),
  param_offload: flag(false),
  optimizer_offload: flag(false),
  offload_policy: flag(false),
  reshard_after_forward: z.union([z.boolean(), z.number()]).default(true),
  fsdp_size: number(-1),
});

// A checkpoint here always holds all of it, the model as a Hugging Face folder.
const checkpoint = section({
  contents: z
    .array(z.enum(["model", "optimizer", "extra", "hf_model"]))
    .default(["model", "optimizer", "extra"]),
});

const sharded = {
  strategy: text("fsdp"),
  ulysses_sequence_parallel_size: atLeast(1, 1),
};

const logProbBatches = {
  log_prob_micro_batch_size: optionalCount,
  log_prob_micro_batch_size_per_gpu: optionalCount,
  log_prob_use_dynamic_bsz: flag(false),
  log_prob_max_token_len_per_gpu: atLeast(1, 16384),
};

const loading = {
  override_config: free,
  external_lib: optionalText,
  use_shm: flag(false),
  enable_activation_offload: flag(false),
  use_remove_padding: flag(false),
  trust_remote_code: flag(false),
};

/** The keys that do nothing here, by their section. */
export const kept = {
  data: {
    use_shm: flag(false),
    return_raw_input_ids: flag(false),
    return_raw_chat: flag(false),
    return_full_prompt: flag(false),
    filter_overlong_prompts_workers: atLeast(1, 1),
    image_key: text("images"),
    video_key: text("videos"),
    trust_remote_code: flag(false),
    custom_cls: section({ path: optionalText, name: optionalText }),
  },
  actor_rollout_ref: { hybrid_engine: flag(true) },
  "actor_rollout_ref.model": {
    ...loading,
    use_liger: flag(false),
    use_fused_kernels: flag(false),
  },
  "actor_rollout_ref.actor": {
    ...sharded,
    checkpoint,
    use_torch_compile: flag(true),
    fsdp_config: fsdp,
  },
  "actor_rollout_ref.actor.optim": { total_training_steps: number(-1) },
  "actor_rollout_ref.ref": {
    ...logProbBatches,
    ...sharded,
    use_torch_compile: flag(true),
    fsdp_config: fsdp,
  },
  "actor_rollout_ref.rollout": {
    ignore_eos: flag(false),
    prompt_length: atLeast(1, 512),
    // Tool results are always masked in advantages here.
    multi_turn: section({
      enable: flag(false),
      max_turns: optionalCount,
      tool_config_path: optionalText,
      format: text("chatml"),
    }),
    name: text("vllm"),
    chat_scheduler: optionalText,
    use_fire_sampling: flag(false),
    dtype: text("bfloat16"),
    gpu_memory_utilization: share(0.5),
    enforce_eager: flag(true),
    free_cache_engine: flag(true),
    load_format: text("dummy_dtensor"),
    layered_summon: flag(false),
    tensor_model_parallel_size: atLeast(1, 2),
    max_num_batched_tokens: atLeast(1, 8192),
    ...logProbBatches,
    disable_log_stats: flag(true),
    enable_chunked_prefill: flag(true),
    engine_kwargs: free,
  },
  critic: {
    ...sharded,
    checkpoint,
    rollout_n: atLeast(1, 1),
    forward_micro_batch_size: optionalCount,
    forward_micro_batch_size_per_gpu: optionalCount,
    forward_max_token_len_per_gpu: atLeast(1, 32768),
  },
  "critic.optim": { total_training_steps: number(-1) },
  "critic.model": {
    ...loading,
    tokenizer_path: optionalText,
    // A critic has no adapters: every weight of it is trained, whatever the rank says.
    lora_rank: atLeast(0, 0),
    lora_alpha: positive(16),
    target_modules: z.union([z.string(), z.array(z.string())]).default("all-linear"),
    fsdp_config: fsdp,
  },
  reward_model: {
    // Rewards are computed one sample at a time, as `naive` does.
    reward_manager: text("naive"),
    enable: flag(false),
    strategy: text("fsdp"),
    model: free,
    micro_batch_size: optionalCount,
    micro_batch_size_per_gpu: optionalCount,
    max_length: optionalCount,
    ulysses_sequence_parallel_size: atLeast(1, 1),
    use_dynamic_bsz: flag(false),
    forward_max_token_len_per_gpu: optionalCount,
    launch_reward_fn_async: flag(false),
    sandbox_fusion: section({ url: optionalText, max_concurrent: atLeast(1, 64) }),
  },
  algorithm: {
    use_pf_ppo: flag(false),
    pf_ppo: section({ reweight_method: text("pow"), weight_pow: number(2) }),
  },
  "algorithm.filter_groups": { max_inflight_gen_batches: atLeast(1, 1) },
  trainer: {
    // A checkpoint holds actor and critic.
    max_critic_ckpt_to_keep: optionalCount,
    balance_batch: flag(true),
    nnodes: atLeast(1, 1),
    n_gpus_per_node: atLeast(1, 8),
    default_hdfs_dir: optionalText,
    del_local_ckpt_after_load: flag(false),
    ray_wait_register_center_timeout: number(300),
    device: text("cuda"),
  },
  ray_init: { num_cpus: optionalCount },
  "": { hydra: free },
};
