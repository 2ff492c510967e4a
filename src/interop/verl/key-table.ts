import { estimatorsByName } from "../../learn/estimators/registry.js";
import { lossAggregations } from "../../learn/losses/base/options.js";
import { lossRegistry } from "../../learn/losses/registry.js";
import { keysOf } from "../../../common/options/option-table.js";
import { rules } from "../../rollout/rules/registry.js";
import { dynamicTable, rolloutSettings } from "../../rollout/settings.js";
import { isAbsolute } from "node:path";

/** What becomes of one of our keys in verl 0.9.1. */
type Carried =
  /** An override, under this name and with this value; `only` some may be known there. */
  | { to: string; value?: (value: unknown) => unknown; only?: readonly string[] }
  /** A setting of the tree's agent loop, which may know some of its values only. */
  | { loop: string; only?: readonly string[] }
  /** Means nothing there, or stands elsewhere in the job folder. */
  | { left: string }
  /** Any value but the default is refused. */
  | { refused: string };

/** The rules that the loop has too. */
const loopRules = rules.all.flatMap((rule) => ("verl" in rule ? [rule.name] : []));

const same = (to: string, value?: (value: unknown) => unknown): Carried =>
  value ? { to, value } : { to };
const left = (why: string): Carried => ({ left: why });
const refused = (why: string): Carried => ({ refused: why });
const rollout = "actor_rollout_ref.rollout";
const actor = "actor_rollout_ref.actor";

/** Those of the rollout's options that the loop reads under a name of its own. */
const inLoop: Readonly<Record<string, Carried>> = Object.fromEntries(
  [...keysOf(rolloutSettings), ...keysOf(dynamicTable)].flatMap(([, { path, loop }]) =>
    loop === undefined ? [] : [[path, { loop }]],
  ),
);

const otherProgram =
  "verl trains on older rollouts in programs of their own (one_step_off_policy, fully_async_policy), which are not carried yet";

/** Keys that are not simply the same there. Held against verl's own configuration by a test. */
const special: Readonly<Record<string, Carried>> = {
  "data.train_files": left("train.parquet holds them"),
  "data.val_files": left("val.parquet holds them"),
  "data.environment": refused("verl's loop has no environments"),
  "data.prompt_key": left("the data has its own column"),
  "data.reward_fn_key": left("the data has its own column"),
  "data.return_raw_chat": left("the loop needs it: always on"),
  "data.tokenizer": same("actor_rollout_ref.model.tokenizer_path"),
  [`${actor}.enable_entropy_balanced_clipping`]: left("it is a loss of arpo_verl"),
  [`${actor}.enable_entropy_balanced_advantage`]: left("it is a loss of arpo_verl"),
  [`${actor}.loss_agg_mode`]: {
    to: `${actor}.loss_agg_mode`,
    only: lossAggregations.filter((mode) => mode.startsWith("seq") || mode === "token-mean"),
  },
  [`${actor}.policy_loss.loss_mode`]: left("the losses have their own rule"),
  [`${actor}.optim.warmup_style`]: same(`${actor}.optim.lr_scheduler_type`),
  "critic.optim.warmup_style": same("critic.optim.lr_scheduler_type"),
  // The old name is taken and never read.
  [`${actor}.grad_clip`]: same(`${actor}.optim.clip_grad`),
  "critic.grad_clip": same("critic.optim.clip_grad"),
  [`${actor}.checkpoint.contents`]: same(`${actor}.checkpoint.save_contents`),
  "critic.checkpoint.contents": same("critic.checkpoint.save_contents"),
  [`${rollout}.mode`]: left("always async: verl 0.9.1 has no other"),
  ...inLoop,
  [`${rollout}.enable_dynamic_rollouts`]: { loop: "dynamic" },
  "lab.branch_rule": { loop: "rule", only: loopRules },
  [`${rollout}.tools.calls`]: refused("the loop reads calls by tag"),
  [`${rollout}.tools.describe`]: left(
    "the loop takes prompts as the data has them: describe the tools there",
  ),
  [`${rollout}.tools.strict_calls`]: refused("the loop samples without a grammar"),
  [`${rollout}.tools.retry_count`]: { loop: "attempts" },
  [`${rollout}.tools.timeout`]: { loop: "timeout" },
  [`${rollout}.tools.max_workers`]: left("verl's workers call tools in threads of their own"),
  [`${rollout}.tools.verbose_logging`]: left("the loop's trace has every call"),
  [`${rollout}.tools.fail_on_error`]: refused("a tool that fails is answered, as by default"),
  [`${rollout}.multi_turn.max_turns`]: same(`${rollout}.multi_turn.max_assistant_turns`),
  [`${rollout}.multi_turn.enable`]: left("always on"),
  [`${rollout}.multi_turn.format`]: left("the loop reads calls by tag"),
  [`${rollout}.load_format`]: same(`${rollout}.load_format`, (value) =>
    String(value).startsWith("dummy") ? "dummy" : value,
  ),
  [`${rollout}.chat_scheduler`]: refused("verl 0.9.1 has none"),
  [`${rollout}.use_fire_sampling`]: refused("verl 0.9.1 has none"),
  "custom_reward_function.path": left("reward.custom_reward_function has it"),
  "custom_reward_function.name": left("reward.custom_reward_function has it"),
  "reward_model.reward_manager": same("reward.reward_manager.name"),
  "distillation.teacher_model.model_path": refused("its teachers are not carried yet"),
  "algorithm.filter_groups.enable": refused("verl takes the key and is not known to read it"),
  "algorithm.filter_groups.metric": left("filter_groups is off"),
  "trainer.logger": left("verl's file logger is added: the figures are read back from there"),
  "trainer.rollout_data_dir": left("results/rollouts, where it is not said"),
  "trainer.validation_data_dir": left("results/validation, where it is not said"),
  "trainer.experiment_name": same("trainer.experiment_name"),
  // Processes on other nodes are not in this folder.
  "trainer.default_local_dir": same("trainer.default_local_dir", (value) =>
    isAbsolute(String(value)) ? value : `@JOB@/${String(value)}`,
  ),
  "ray_init.num_cpus": same("ray_kwargs.ray_init.num_cpus"),
  hydra: refused("it is the other program's"),
  "lab.async": refused(otherProgram),
  "lab.staleness_limit": refused(otherProgram),
  "lab.max_staleness": refused(otherProgram),
  "lab.seed": { loop: "seed" },
  "lab.keep_best": left("verl keeps checkpoints by its own rule"),
  "lab.stuck_after": left("a watch of our own process"),
  "lab.reward_concurrency": left("verl has reward workers"),
  "lab.reward_timeout": left("verl has reward workers"),
  "lab.repair_boxed": left("the data is fixed already"),
  "lab.share_prefixes": left("how our own update computes"),
  "lab.correct_like": left("rollout_correction says how verl corrects"),
  "lab.reuse_log_probs": left("how our own update computes"),
  "lab.sampling_mask": left("verl 0.9.1 records nothing of what was cut off"),
  "lab.sampler": refused("vLLM samples there"),
  "lab.cache": refused("vLLM keeps keys and values in its own type"),
  "lab.matmul_precision": left("how our own update computes"),
  "lab.weights": refused("verl's averages would be in bfloat16 too"),
};

/** Beginnings of keys that go the same way, looked at where no key is named. */
const prefixes: readonly [string, (rest: string) => Carried][] = [
  [`${rollout}.tools.tool_instances`, () => left("the loop's tools have them")],
  [
    `${actor}.policy_loss.`,
    (name) => {
      const path = `${actor}.policy_loss.${name}`;
      const known = lossRegistry.all.some(
        ({ verl, options = {} }) => verl && keysOf(options).some(([, key]) => key.path === path),
      );
      return known ? same(path) : refused("a loss that verl 0.9.1 does not have");
    },
  ],
  ["distillation.distillation_loss.", () => left("there is no teacher")],
  ["async_training.", () => refused(otherProgram)],
  ["critic.model.fsdp_config.wrap_policy.transformer", () => refused("verl 0.9.1 has none")],
  ["critic.model.fsdp_config.", (rest) => same(`critic.fsdp.${rest}`)],
  [`${actor}.fsdp_config.wrap_policy.transformer`, () => refused("verl 0.9.1 has none")],
  [
    "actor_rollout_ref.ref.fsdp_config.wrap_policy.transformer",
    () => refused("verl 0.9.1 has none"),
  ],
  ["reward_model.sandbox_fusion.", (rest) => same(`reward.sandbox_fusion.${rest}`)],
  ["reward_model.", () => refused("reward models moved in verl 0.9.1; not carried yet")],
  ["lab.", () => refused("verl has no such thing")],
];

/** What becomes of a key. Every key of ours has an answer. */
export function carriedAs(path: string): Carried {
  const named = special[path];
  if (named) return named;
  for (const [prefix, make] of prefixes) {
    if (path.startsWith(prefix)) return make(path.slice(prefix.length));
  }
  return same(path);
}

/** Whether verl 0.9.1 has a loss under our name. */
export const isLossOfVerl = (name: string): boolean => lossRegistry.get(name)?.verl === true;

/** Estimators that verl 0.9.1 has under our names and that need no critic. */
export const verlEstimators: ReadonlySet<string> = new Set(
  estimatorsByName.all.flatMap((one) => ("verl" in one ? [one.name] : [])),
);
