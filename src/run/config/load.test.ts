import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sharedData } from "../../../tests/shared-data.js";
import { clipBounds } from "../../learn/losses/base/options.js";
import { updateOptions } from "../trainer/options.js";
import { configKeys } from "./keys.js";
import { loadConfig } from "./load.js";
import { temporaryFolder } from "../../../tests/temporary.js";

const published = sharedData("config/ppo_trainer.yaml");

test("loadConfig() gives every key a default of the right kind and links lengths", async () => {
  const { config } = await loadConfig({ overrides: ["data.max_response_length=77"] });
  assert.equal(config.actor_rollout_ref.rollout.response_length, 77);
  assert.equal(config.trainer.default_local_dir, "checkpoints/verl_examples/gsm8k");
});

test("loadConfig() takes clip_ratio as the default of the range below and above", async () => {
  const actor = "actor_rollout_ref.actor";
  const bounds = async (...overrides: string[]) =>
    clipBounds(updateOptions((await loadConfig({ overrides })).config));
  const near = (found: { low: number; high: number }, low: number, high: number) =>
    assert.deepEqual(
      [found.low.toFixed(6), found.high.toFixed(6)],
      [low.toFixed(6), high.toFixed(6)],
    );
  near(await bounds(), 0.8, 1.2);
  near(await bounds(`${actor}.clip_ratio=0.1`), 0.9, 1.1);
  near(await bounds(`${actor}.clip_ratio=0.1`, `${actor}.clip_ratio_high=0.28`), 0.9, 1.28);
  near(await bounds(`${actor}.clip_ratio=0.1`, `${actor}.clip_ratio_low=null`), 0.9, 1.1);
});

test(
  "loadConfig() loads the published base file with the published script's overrides",
  { skip: published.missing },
  async () => {
    const { config, kept, notes } = await loadConfig({
      files: [published.path],
      overrides: [
        "algorithm.adv_estimator=grpo",
        "data.train_files=/data/train_10k.parquet",
        "actor_rollout_ref.actor.optim.lr=1e-6",
        "actor_rollout_ref.rollout.mode=sync_with_tool",
        "++actor_rollout_ref.rollout.n=16",
        "actor_rollout_ref.rollout.multi_turn.enable=",
        "actor_rollout_ref.rollout.tools.tool_instances.search.params.cache_file=c.json",
        "trainer.logger=[console, wandb]",
        "hydra.run.dir=out/outputs",
      ],
    });
    const { rollout, actor } = config.actor_rollout_ref;
    assert.equal(rollout.n, 16);
    assert.equal(rollout.beam_size, 1);
    assert.equal(actor.optim.lr, 1e-6);
    assert.equal(rollout.prompt_length, 512);
    assert.equal(rollout.tools.tool_instances["search"]?.params["cache_file"], "c.json");
    assert.equal(config.critic.rollout_n, 16);
    assert.equal(config.critic.optim.min_lr_ratio, null);
    assert.ok(kept.includes("trainer.n_gpus_per_node") && kept.includes("hydra.run.dir"));
    assert.ok(!kept.includes("actor_rollout_ref.rollout.n"));
    assert.match(notes.join(), /multi_turn.enable= has no value/);
  },
);

test("the presets are what the published scripts and their base files set", async () => {
  const of = async (...preset: ("grpo" | "arpo" | "aepo" | "7b" | "8b" | "14b")[]) => {
    const {
      data,
      actor_rollout_ref: all,
      trainer,
      algorithm,
    } = (await loadConfig({ preset })).config;
    const { actor, rollout } = all;
    return [
      [data.train_batch_size, actor.ppo_mini_batch_size, trainer.total_epochs],
      [data.max_prompt_length, data.max_response_length, actor.ppo_max_token_len_per_gpu],
      [rollout.n, rollout.initial_rollouts, rollout.beam_size],
      [rollout.branch_probability, rollout.entropy_weight, rollout.enable_dynamic_rollouts],
      [rollout.tools.call_limit, rollout.tools.max_workers, rollout.tools.retry_count],
      [actor.enable_entropy_balanced_clipping, actor.enable_entropy_balanced_advantage],
      [actor.use_dynamic_bsz, actor.use_kl_loss, actor.kl_loss_coef, algorithm.kl_ctrl.kl_coef],
      [trainer.save_freq, trainer.test_freq, trainer.val_before_train, actor.optim.lr],
    ];
  };
  const rest = [
    [true, true, 0, 0],
    [5, 5, false, 1e-6],
  ];
  const arpo = [[0.5, 0.2, false]];
  assert.deepEqual(await of("arpo", "7b"), [
    [128, 16, 2],
    [1536, 4096, 11264],
    [16, 8, 2],
    ...arpo,
    [3, 64, 3],
    [false, false],
    ...rest,
  ]);
  assert.deepEqual(await of("arpo", "8b"), [
    [128, 16, 5],
    [2000, 10000, 24000],
    [16, 8, 2],
    ...arpo,
    [6, 64, 3],
    [false, false],
    ...rest,
  ]);
  assert.deepEqual(await of("aepo", "14b"), [
    [64, 8, 5],
    [2000, 6192, 16384],
    [12, 6, 2],
    ...arpo,
    [6, 32, 4],
    [true, true],
    ...rest,
  ]);
  assert.deepEqual((await of("aepo", "7b"))[4], [6, 32, 4]);
});

test("loadConfig() takes AEPO's keys and the later file over the earlier", async () => {
  const dir = temporaryFolder("arpo-lab-config");
  const [a, b] = [join(dir, "a.yaml"), join(dir, "b.yaml")];
  await writeFile(a, "actor_rollout_ref:\n  actor: {enable_entropy_balanced_clipping: False}\n");
  await writeFile(
    b,
    "actor_rollout_ref:\n  actor: {enable_entropy_balanced_clipping: True}\n" +
      "  rollout: {enable_dynamic_rollouts: True, tools: {max_workers: 32}}\n",
  );
  const { config } = await loadConfig({ files: [a, b] });
  assert.ok(config.actor_rollout_ref.actor.enable_entropy_balanced_clipping);
  assert.ok(config.actor_rollout_ref.rollout.enable_dynamic_rollouts);
});

test("loadConfig() names the nearest key, wherever it was mistyped", async () => {
  const set = (override: string) => loadConfig({ overrides: [override] });
  await assert.rejects(set("data.train_bach_size=2"), /did you mean data.train_batch_size\?/);
  await assert.rejects(
    set("rollout.n=2"),
    /got rollout.n; did you mean actor_rollout_ref.rollout.n\?/,
  );
  await assert.rejects(
    set("model.path=data/models/tiny"),
    /got model.path; did you mean actor_rollout_ref.model.path\?/,
  );
  await assert.rejects(set("nonsense=2"), /every key must be known, got nonsense$/);
});

test("loadConfig() names the key, the rule and the value", async () => {
  const set = (...overrides: string[]) => loadConfig({ overrides });
  await assert.rejects(set("actor_rollout_ref.rollout.n=0"), /rollout.n must be at least 1, got 0/);
  await assert.rejects(set("actor_rollout_ref.rollout.top_p=2"), /top_p must be at most 1, got 2/);
  await assert.rejects(
    set("algorithm.adv_estimator=grop"),
    /adv_estimator must be one of .*grpo.* got "grop"/,
  );
  await assert.rejects(set("data.seed=${data.seed}"), /every key must be known/);
  await assert.rejects(
    set("trainer.project_name=${trainer.project_name}"),
    /must not go in a circle/,
  );
  await assert.rejects(
    set("trainer.project_name=${no.such}"),
    /must name a key, got \$\{no.such\}/,
  );
  await assert.rejects(set("trainer.project_name=${oc.env:ARPO_LAB_NOT_SET}"), /ARPO_LAB_NOT_SET/);
  await assert.rejects(set("just text"), SyntaxError);
  await assert.rejects(loadConfig({ files: ["/no/such.yaml"] }), /must be readable \(ENOENT\)/);
});

test("loadConfig() reads environment variables with defaults and removes keys", async () => {
  const { config } = await loadConfig({
    values: { trainer: { project_name: "${oc.env:P,mine}-${lab.seed}", total_epochs: 3 } },
    overrides: ["~trainer.total_epochs"],
    env: {},
  });
  assert.equal(config.trainer.project_name, "mine-1");
  assert.equal(config.trainer.total_epochs, 30);
});

test("configKeys describes every key that this machine uses", () => {
  const silent = configKeys()
    .filter((key) => !key.kept && !key.description)
    .map((key) => key.path);
  assert.deepEqual(silent, []);
});

test("what a configuration says besides the defaults: neither a default, nor one that follows another key", async () => {
  const { chosenSettings } = await import("./load-and-check.js");
  const { config } = await loadConfig({
    overrides: ["data.max_response_length=77", "lab.seed=5", "trainer.nnodes=1"],
  });
  assert.deepEqual(chosenSettings(config), [
    ["data.max_response_length", 77],
    ["lab.seed", 5],
  ]);
});
