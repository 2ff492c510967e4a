import { resolve } from "node:path";
import { loadModel } from "../../src/model/index.js";
import { world } from "../../src/data/index.js";
import { Policy } from "../../src/policy/index.js";
import { loadReward } from "../../src/reward/index.js";
import {
  type Config,
  type LoadedConfig,
  type Preset,
  type TrainerParts,
  loadConfig,
  taskTools,
  tasksOf,
} from "../../src/run/index.js";
import { ToolSet, loadTools } from "../../src/tools/index.js";

export interface ConfigOptions {
  config: string[];
  preset: string[];
}

/** Reads the configuration of a command and says what it left out. */
export async function readConfig(
  overrides: readonly string[],
  options: ConfigOptions,
): Promise<Config> {
  const loaded: LoadedConfig = await loadConfig({
    files: options.config,
    preset: (options.preset.length > 0 ? options.preset : ["arpo", "tiny"]) as Preset[],
    overrides,
  });
  for (const note of loaded.notes) console.error(`note: ${note}`);
  if (loaded.kept.length > 0) {
    console.error(`kept for a cluster, without meaning here: ${loaded.kept.join(", ")}`);
  }
  return loaded.config;
}

async function toolsOf(config: Config): Promise<ToolSet> {
  const { tools, mode } = config.actor_rollout_ref.rollout;
  if (mode === "sync") return new ToolSet();
  const limits = {
    callLimit: tools.call_limit,
    maxWorkers: tools.max_workers,
    timeoutMs: tools.timeout * 1000,
    retryCount: tools.retry_count,
  };
  // Without tools of its own a configuration gets those of the task generators.
  if (Object.keys(tools.tool_instances).length === 0) return taskTools(world, limits);
  return loadTools(tools);
}

/** Everything a trainer is put together from, as the configuration says. */
export async function assemble(config: Config): Promise<TrainerParts> {
  const { model, actor } = config.actor_rollout_ref;
  const policy = await Policy.load(resolve(model.path));
  const needsReference =
    config.algorithm.use_kl_in_reward || (actor.use_kl_loss && actor.kl_loss_coef !== 0);
  return {
    config,
    policy,
    tools: await toolsOf(config),
    reward: await loadReward(
      config.custom_reward_function.path,
      config.custom_reward_function.name,
    ),
    train: await tasksOf(config.data.train_files, "train", config),
    validation: await tasksOf(config.data.val_files, "test", config),
    ...(needsReference ? { reference: policy.model.copy() } : {}),
    ...(config.algorithm.adv_estimator === "gae"
      ? { critic: await loadModel(resolve(config.critic.model.path), { head: "value" }) }
      : {}),
  };
}

/** An abort signal for Ctrl-C: the first press stops after the step, the second at once. */
export function interruptible(): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => {
    console.error("stopping; press Ctrl-C again to stop at once");
    controller.abort(new Error("Cannot go on: stopped by Ctrl-C"));
    process.once("SIGINT", () => process.exit(130));
  });
  return controller.signal;
}
