import { mkdir } from "#platform/files";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, type OptionRules, texts } from "../../../common/options/check-options.js";
import type { Task } from "../../tasks/task.js";
import { judgedApart } from "../../reward/rewards/registry.js";
import { whileKnown } from "../../run/config/choices.js";
import { configKeys } from "../../run/config/keys.js";
import { loadConfig } from "../../run/config/load.js";
import type { LoadOptions } from "../../run/config/options.js";
import type { Config } from "../../run/config/schema.js";
import { tasksOf } from "../../run/trainer/tasks-of.js";
import { checkTokens } from "./check-tokens.js";
import { carriedAs } from "./key-table.js";
import { type Launch, nodesScript, slurmScript } from "./launch/nodes-script.js";
import { verlConfig } from "./overrides.js";
import { putUserCode } from "./sidecar/put-user-code.js";
import { taskParquet } from "./task-parquet.js";
import { existsSync } from "node:fs";
import { chmod, cp, readdir, writeFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";

const header = `# For SkyPilot, from this folder:  sky launch sky.yaml     (sky jobs launch goes on elsewhere after a preemption)
# Choose the accelerators. This folder is copied to the same path of every node, and what a node writes stays there:
# for results and checkpoints of more than one node put it on a bucket (file_mounts with mode: MOUNT).
# Secrets are named here and given on the command line, as the key of Ray's cluster is:
#   RAY_AUTH_TOKEN=$(openssl rand -hex 32) sky launch --secret RAY_AUTH_TOKEN sky.yaml
`;

// SkyPilot has a Ray of its own on 6380, which `ray stop` would end too.
const run = `[ "$SKYPILOT_NUM_NODES" -gt 1 ] || exec sh run.sh "trainer.n_gpus_per_node=$SKYPILOT_NUM_GPUS_PER_NODE"
export RAY_AUTH_MODE=token RAY_PORT=6399
head=$(printf '%s\\n' "$SKYPILOT_NODE_IPS" | sed -n 1p)
[ "$SKYPILOT_NODE_RANK" = 0 ] || exec sh nodes.sh worker "$head"
NODES=$SKYPILOT_NUM_NODES exec sh nodes.sh head "trainer.n_gpus_per_node=$SKYPILOT_NUM_GPUS_PER_NODE"
`;

/** `sky.yaml`: the run as a task of SkyPilot. */
function skyTask({ name, nodes, gpus }: Launch): string {
  const task = {
    name: name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-"),
    workdir: ".",
    num_nodes: nodes,
    resources: { accelerators: `H100:${gpus}`, disk_size: 512 },
    ...(nodes > 1 ? { secrets: { RAY_AUTH_TOKEN: null } } : {}),
    setup: 'pip install "verl[vllm]==0.9.1"\n',
    run,
  };
  return header + stringify(task);
}

const ours = whileKnown(() => new Set(configKeys().map(({ path }) => path)));

/** The key of an override as verl's command line takes it: `key=value`, `+key=value`, `++key=value`, `~key`. */
const keyOf = (setting: string): string => setting.replace(/^(~|\+{0,2})/, "").split("=")[0]!;

/**
 * Overrides with settings in verl's own names laid over them: one that sets the same key takes the place of
 * ours. Names of ours that verl takes and never reads, or has elsewhere, are refused.
 */
function withOwnSettings(overrides: readonly string[], own: readonly string[]): string[] {
  const refuse = (rule: string, setting: unknown): never => {
    throw new RangeError(`Cannot export to verl: ${rule}, got ${JSON.stringify(setting)}`);
  };
  for (const setting of own) {
    if (!/^(\+{0,2}[\w.@/-]+=.*|~[\w.@/-]+)$/.test(setting)) {
      refuse("settings must be verl's key=value, ++key=value or ~key, on one line", setting);
    }
    const key = keyOf(setting);
    if (!ours().has(key)) continue;
    const carried = carriedAs(key);
    if ("to" in carried && carried.to === key) continue;
    refuse(
      "to" in carried
        ? `settings must be in verl 0.9.1's own names, where this is ${carried.to}`
        : "settings must be verl's own: this key belongs to the configuration",
      setting,
    );
  }
  const taken = new Set(own.map(keyOf));
  return [...overrides.filter((one) => !taken.has(keyOf(one))), ...own];
}

/** What verl needs that a configuration of ours does not say. */
export interface VerlExportOptions {
  /**
   * Tools that run in Python, by tag: `calculator`, or `module:function` of a Python file that is put beside
   * the others. Tools of the configuration that are not named here run in Node beside each worker.
   */
  tools?: Readonly<Record<string, string>>;
  /**
   * A Python file with verl's `compute_score`. @default the configuration's reward, else that of the
   * published runs
   */
  reward?: string;
  /**
   * How this package gets to the nodes where something runs in Node: `"image"`, where `arpo-lab` is on their
   * PATH; an absolute path on the nodes; or a `.tgz` of this machine, installed there once per node.
   *
   * @default "image"
   */
  package?: string;
  /**
   * Every trajectory is drawn by a seed of its own, so that a server which keeps to seeds writes the same
   * again. vLLM samples such trajectories one by one, which takes time.
   *
   * @default false
   */
  seeded?: boolean;
  /**
   * Settings in verl's own names, which no configuration of ours has: `key=value`, `++key=value` or `~key`, as
   * its command line takes them. They are laid over what the configuration becomes.
   */
  settings?: readonly string[];
}

export const exportRules: OptionRules<VerlExportOptions> = {
  tools: "object?",
  reward: "path?",
  package: "text?",
  seeded: "boolean?",
  settings: texts,
};

/** A job folder that was written. */
export interface VerlJob {
  folder: string;
  overrides: string[];
  /** What was left out or needs a look. */
  notes: string[];
}

/** Validation does not branch, and a loop is not told that it validates: it has one of its own. */
const loops = { tree: "arpo_tree", answers: "arpo_answers" };
const plugin = fileURLToPath(new URL("../../../../data/verl/arpo_verl", import.meta.url));
const name = /^\w+(\.\w+)*:\w+$/;

/** The tools of the loop: in Python where they are named so, else in Node beside it. */
function toolsOf(config: Config, given: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(config.actor_rollout_ref.rollout.tools.tool_instances);
  for (const [tag, tool] of Object.entries(given)) {
    if (tool === "calculator" || name.test(tool)) continue;
    throw new RangeError(
      `Cannot export to verl: tools.${tag} must be calculator or module:function, got ${tool}`,
    );
  }
  const tools = own.map(([tag, { class_path: path }]) => [
    tag,
    path === "calculator" ? "calculator" : "node",
  ]);
  return { ...(Object.fromEntries(tools) as Record<string, string>), ...given };
}

const script = `#!/bin/sh
# Runs on verl 0.9.1 (pip install "verl[vllm]==0.9.1"); further overrides may follow: sh run.sh trainer.nnodes=2
set -eu
case $0 in */*) cd "\${0%/*}" ;; esac
ARPO_LAB_JOB=$(pwd)
PYTHONPATH=$ARPO_LAB_JOB\${PYTHONPATH:+:$PYTHONPATH}
VERL_USE_EXTERNAL_MODULES=arpo_verl\${VERL_USE_EXTERNAL_MODULES:+,$VERL_USE_EXTERNAL_MODULES}
# verl writes this file anew: a run that goes on has another.
VERL_FILE_LOGGER_PATH=$ARPO_LAB_JOB/results/metrics-$(date +%s).jsonl
export ARPO_LAB_JOB PYTHONPATH VERL_USE_EXTERNAL_MODULES VERL_FILE_LOGGER_PATH
mkdir -p results
# A text between quotes, as Hydra reads it: a quote has a backslash, and backslashes before it are doubled.
inner() { printf '%s' "$1" | sed 's/\\(\\\\*\\)'"'"'/\\1\\1\\\\'"'"'/g'; }
job=$(inner "$ARPO_LAB_JOB")
# Processes on other nodes are given it by Ray, which hands on nothing by itself.
env="ARPO_LAB_JOB:'$job',PYTHONPATH:'$(inner "$PYTHONPATH")'"
env="$env,VERL_USE_EXTERNAL_MODULES:'$VERL_USE_EXTERNAL_MODULES',VERL_FILE_LOGGER_PATH:'$(inner "$VERL_FILE_LOGGER_PATH")'"
set -- "++ray_kwargs.ray_init.runtime_env.env_vars={$env}" "$@"
# Without quotes Hydra takes plain names alone.
case $ARPO_LAB_JOB in *[!A-Za-z0-9_./-]*) quote="'" ;; *) quote= ;; esac
# One override per line; @JOB@ stands for this folder.
while IFS= read -r line; do
  case $line in
  "" | "#"*) continue ;;
  *=@JOB@*) line=\${line%%@JOB@*}$quote$job\${line#*@JOB@}$quote ;;
  *@JOB@*) line=\${line%%@JOB@*}$job\${line#*@JOB@} ;;
  esac
  set -- "$line" "$@"
done <overrides.txt
exec "\${PYTHON:-python3}" -m verl.trainer.main_ppo "$@"
`;

const scoredAlready = `"""The reward of this run is one of arpo-lab's: a Node process beside each worker gives it, and the loop its scores."""


def compute_score(*_, **__):
    raise RuntimeError("Cannot score a trajectory: the loop arpo_tree must have scored it in Node, got one of another loop")
`;

/**
 * Whether the configuration's reward runs in Node: Python's own are a file that is here, and the
 * published one.
 */
function rewardInNode({ custom_reward_function: own }: Config, given?: string): boolean {
  const { path } = own;
  if (given !== undefined || path === null) return false;
  if (!path.endsWith(".py")) return true;
  return !existsSync(resolve(path)) && !path.endsWith("deep_research.py");
}

/**
 * In the folder the reward is deep research where none is named; here some data sources have rules of
 * their own.
 */
function refuseOtherReward(config: Config, tasks: readonly Task[]): void {
  const apart = tasks.find(({ dataSource }) => judgedApart(dataSource ?? ""));
  if (config.custom_reward_function.path !== null || !apart) return;
  throw new RangeError(
    `Cannot export to verl: custom_reward_function.path must be named for tasks of ${apart.dataSource}, which have a rule of their own here, got none; deep_research.py is the published one`,
  );
}

/** The reward's place in the folder. */
async function putReward(config: Config, folder: string, given?: string): Promise<string[]> {
  const { path, name: functionName } = config.custom_reward_function;
  const at = (file: string, named: string) => [
    `reward.custom_reward_function.path=@JOB@/${file}`,
    `reward.custom_reward_function.name=${named}`,
  ];
  const own = given ?? (path?.endsWith(".py") && existsSync(resolve(path)) ? path : undefined);
  if (own !== undefined) {
    await cp(resolve(own), join(folder, "reward.py"));
    return at("reward.py", functionName);
  }
  if (!rewardInNode(config)) return at("arpo_verl/reward.py", "compute_score");
  await writeFile(join(folder, "reward.py"), scoredAlready);
  return at("reward.py", "compute_score");
}

/**
 * Writes a job folder for verl 0.9.1: overrides that it reads, data, the tree's agent loop with all its
 * settings, AEPO's loss, the reward and a script. Keys without a counterpart are refused by name.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readdir } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { exportVerl } from "arpo-lab/experimental/scale";
 *
 * const folder = `${await mkdtemp(join(tmpdir(), "arpo-verl-"))}/job`;
 * const overrides = ["data.train_files=tasks:calc?train=2", "data.val_files=tasks:calc?test=1"];
 * await exportVerl({ preset: "arpo", overrides }, folder, { tools: { python: "calculator" } });
 * const files = await readdir(folder);
 * assert.ok(["agent_loop.yaml", "overrides.txt", "run.sh", "train.parquet"].every((f) => files.includes(f)));
 * const gigpo = { preset: "arpo", overrides: ["algorithm.adv_estimator=gigpo"] } as const;
 * await assert.rejects(exportVerl(gigpo, folder), /algorithm.adv_estimator=gigpo \(verl 0.9.1 has no/);
 * ```
 */
export async function exportVerl(
  experiment: LoadOptions,
  folder: string,
  options: VerlExportOptions = {},
): Promise<VerlJob> {
  checkArguments(
    "export to verl",
    { experiment, folder },
    { experiment: "object", folder: "path" },
  );
  checkOptions("export to verl", options, exportRules);
  const { config } = await loadConfig(experiment);
  const { model } = config.actor_rollout_ref;
  // The job runs in its own folder.
  if (existsSync(resolve(model.path))) model.path = resolve(model.path);
  const { overrides, loop, notes } = verlConfig(config);
  withOwnSettings([], options.settings ?? []);
  if (isAbsolute(model.path)) notes.push(`the model must be at ${model.path} on every node`);
  const tools = toolsOf(config, options.tools ?? {});
  await mkdir(folder, { recursive: true });
  const before = await readdir(folder);
  if (before.length > 0 && !before.includes("overrides.txt")) {
    throw new RangeError(
      `Cannot export to verl: ${folder} must be empty or an export, got other files`,
    );
  }
  const reward = await putReward(config, folder, options.reward);
  const code = {
    tags: Object.keys(tools).filter((tag) => tools[tag] === "node"),
    reward: rewardInNode(config, options.reward),
  };
  const inNode = [...code.tags.map((tag) => `<${tag}>`), ...(code.reward ? ["the reward"] : [])];
  const kept =
    inNode.length > 0 ? await putUserCode(config, folder, code, options.package) : config;
  if (inNode.length > 0) {
    notes.push(`${inNode.join(", ")}: in Node beside each worker (${options.package ?? "image"})`);
  }
  const train = await tasksOf(config.data.train_files, "train", config);
  if (options.reward === undefined) refuseOtherReward(config, train);
  await checkTokens(config.data.tokenizer ?? model.path, train);
  await writeFile(join(folder, "train.parquet"), await taskParquet(train, loops.tree));
  const validation = await tasksOf(config.data.val_files, "test", config);
  await writeFile(join(folder, "val.parquet"), await taskParquet(validation, loops.answers));
  const seeded = options.seeded ? { seeded: true } : {};
  const settings = {
    _target_: "arpo_verl.loop.ArpoTreeLoop",
    ...loop,
    ...seeded,
    call_tools: tools,
    ...(inNode.length > 0 ? { sidecar: "${oc.env:ARPO_LAB_JOB}" } : {}),
    ...(code.reward ? { scores: true } : {}),
  };
  const entries = [
    { name: loops.tree, ...settings, trees: "${oc.env:ARPO_LAB_JOB}/results/trees" },
    { name: loops.answers, ...settings, validates: true },
  ];
  await writeFile(
    join(folder, "agent_loop.yaml"),
    stringify(entries, { aliasDuplicateObjects: false }),
  );
  const made = [
    ...overrides,
    ...["data.train_files=@JOB@/train.parquet", "data.val_files=@JOB@/val.parquet"],
    "actor_rollout_ref.rollout.agent.agent_loop_config_path=@JOB@/agent_loop.yaml",
    ...reward,
  ];
  const all = withOwnSettings(made, options.settings ?? []);
  await writeFile(join(folder, "overrides.txt"), `${all.join("\n")}\n`);
  await writeFile(join(folder, "config.yaml"), stringify(kept));
  await writeFile(join(folder, "notes.txt"), notes.map((note) => `${note}\n`).join(""));
  await writeFile(join(folder, "run.sh"), script);
  const { experiment_name: named, nnodes, n_gpus_per_node: gpus } = config.trainer;
  const launch = { name: named.replaceAll(/[^\w.-]+/g, "-"), nodes: nnodes, gpus };
  await writeFile(join(folder, "nodes.sh"), nodesScript(nnodes));
  await writeFile(join(folder, "slurm.sh"), slurmScript(launch));
  await writeFile(join(folder, "sky.yaml"), skyTask(launch));
  await chmod(join(folder, "run.sh"), 0o755);
  await cp(plugin, join(folder, "arpo_verl"), {
    recursive: true,
    filter: (path) => !path.includes("__pycache__"),
  });
  return { folder, overrides: all, notes };
}
