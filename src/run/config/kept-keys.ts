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

/** Keys of one kind that stand one behind the other. */
const each = <T extends z.ZodType, const N extends string>(kind: T, ...names: N[]) =>
  Object.fromEntries(names.map((name) => [name, kind])) as Record<N, T>;

const off = flag(false);
const on = flag(true);
const layers = z.union([z.string(), z.array(z.string())]).default("all-linear");

/** How FSDP shards a model; nothing to shard on one machine. */
const fsdp = section({
  wrap_policy: section({
    ...{ min_num_params: number(0), transformer_layer_cls_to_wrap: z.unknown().optional() },
  }),
  ...each(off, "param_offload", "optimizer_offload", "offload_policy"),
  ...{ reshard_after_forward: z.union([z.boolean(), z.number()]).default(true) },
  fsdp_size: number(-1),
});

const contents = z.array(z.enum(["model", "optimizer", "extra", "hf_model"]));
// A checkpoint here always holds all of it, the model as a Hugging Face folder.
const checkpoint = section({ contents: contents.default(["model", "optimizer", "extra"]) });
const sharded = { strategy: text("fsdp"), ulysses_sequence_parallel_size: atLeast(1, 1) };
const logProbBatches = {
  ...each(optionalCount, "log_prob_micro_batch_size", "log_prob_micro_batch_size_per_gpu"),
  ...{ log_prob_use_dynamic_bsz: off, log_prob_max_token_len_per_gpu: atLeast(1, 16384) },
};
const loading = {
  ...{ override_config: free, external_lib: optionalText },
  ...each(off, "use_shm", "enable_activation_offload", "use_remove_padding", "trust_remote_code"),
};

/** The keys that do nothing here, by their section. */
export const kept = {
  data: {
    ...each(off, "use_shm", "return_raw_input_ids", "return_raw_chat", "return_full_prompt"),
    filter_overlong_prompts_workers: atLeast(1, 1),
    ...{ image_key: text("images"), video_key: text("videos"), trust_remote_code: off },
    custom_cls: section({ path: optionalText, name: optionalText }),
  },
  actor_rollout_ref: { hybrid_engine: on },
  "actor_rollout_ref.model": { ...loading, ...each(off, "use_liger", "use_fused_kernels") },
  "actor_rollout_ref.actor": { ...sharded, checkpoint, use_torch_compile: on, fsdp_config: fsdp },
  "actor_rollout_ref.actor.optim": { total_training_steps: number(-1) },
  "actor_rollout_ref.ref": {
    ...{ ...logProbBatches, ...sharded, use_torch_compile: on, fsdp_config: fsdp },
  },
  "actor_rollout_ref.rollout": {
    ...{ ignore_eos: off, prompt_length: atLeast(1, 512) },
    // Tool results are always masked in advantages here.
    multi_turn: section({
      ...{ enable: off, max_turns: optionalCount, tool_config_path: optionalText },
      format: text("chatml"),
    }),
    ...{ name: text("vllm"), chat_scheduler: optionalText, use_fire_sampling: off },
    ...{ dtype: text("bfloat16"), gpu_memory_utilization: share(0.5) },
    ...each(on, "enforce_eager", "free_cache_engine"),
    ...{ load_format: text("dummy_dtensor"), layered_summon: off },
    ...{ tensor_model_parallel_size: atLeast(1, 2), max_num_batched_tokens: atLeast(1, 8192) },
    ...logProbBatches,
    ...each(on, "disable_log_stats", "enable_chunked_prefill"),
    engine_kwargs: free,
  },
  critic: {
    ...{ ...sharded, checkpoint, rollout_n: atLeast(1, 1) },
    ...each(optionalCount, "forward_micro_batch_size", "forward_micro_batch_size_per_gpu"),
    forward_max_token_len_per_gpu: atLeast(1, 32768),
  },
  "critic.optim": { total_training_steps: number(-1) },
  "critic.model": {
    ...{ ...loading, tokenizer_path: optionalText },
    // A critic has no adapters: every weight of it is trained, whatever the rank says.
    ...{ lora_rank: atLeast(0, 0), lora_alpha: positive(16), target_modules: layers },
    fsdp_config: fsdp,
  },
  reward_model: {
    // Rewards are computed one sample at a time, as `naive` does.
    ...{ reward_manager: text("naive"), enable: off, strategy: text("fsdp"), model: free },
    ...each(optionalCount, "micro_batch_size", "micro_batch_size_per_gpu", "max_length"),
    ...{ ulysses_sequence_parallel_size: atLeast(1, 1), use_dynamic_bsz: off },
    ...{ forward_max_token_len_per_gpu: optionalCount, launch_reward_fn_async: off },
    sandbox_fusion: section({ url: optionalText, max_concurrent: atLeast(1, 64) }),
  },
  algorithm: {
    use_pf_ppo: off,
    pf_ppo: section({ reweight_method: text("pow"), weight_pow: number(2) }),
  },
  // Rollouts do not go on with other weights here.
  async_training: { partial_rollout: z.literal(false).default(false) },
  "algorithm.filter_groups": { max_inflight_gen_batches: atLeast(1, 1) },
  trainer: {
    // A checkpoint holds actor and critic.
    ...{ max_critic_ckpt_to_keep: optionalCount, balance_batch: on, nnodes: atLeast(1, 1) },
    ...{ n_gpus_per_node: atLeast(1, 8), default_hdfs_dir: optionalText },
    ...{ del_local_ckpt_after_load: off, ray_wait_register_center_timeout: number(300) },
    device: text("cuda"),
  },
  ray_init: { num_cpus: optionalCount },
  "": { hydra: free },
};
