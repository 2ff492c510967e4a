import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { checkConfig, type CheckConfigOptions } from "./check-config.js";
import { showChecks } from "./show-checks.js";
import { endpointCheck } from "./machine/endpoints.js";
import { keyChecks } from "./machine/keys.js";

const tiny = fileURLToPath(new URL("../../../data/models/tiny", import.meta.url));
const rollout = "actor_rollout_ref.rollout";
const actor = "actor_rollout_ref.actor";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "arpo-doctor-"));
  t.after(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

const diagnose = (overrides: readonly string[], options: CheckConfigOptions = {}) =>
  checkConfig({ preset: ["arpo", "tiny"], overrides, speed: false, ...options });

test("checkConfig() finds nothing wrong with the presets for this machine", async () => {
  for (const preset of ["grpo", "arpo", "aepo"] as const) {
    const checks = await checkConfig({ preset: [preset, "tiny"], speed: false });
    const bad = checks.filter(({ status }) => status === "error" || status === "warning");
    assert.deepEqual(bad, [], preset);
    for (const id of ["model", "context", "steps", "memory-fits"]) {
      assert.ok(
        checks.some((check) => check.id === id && check.status === "ok"),
        id,
      );
    }
  }
});

/** Configurations that are wrong in one way: overrides, what it is called, and a word it must say. */
const wrong: [string[], string, "error" | "warning" | "slow" | "note", RegExp][] = [
  [["data.max_respnse_length=9"], "unknown-key", "error", /no key data.max_respnse_length/],
  [[`${rollout}.n=lots`], "bad-value", "error", /must be a number/],
  [["actor_rollout_ref.model.path=no/such"], "no-model", "error", /there is no .*no\/such/],
  [["data.train_files=no-such.jsonl"], "no-training-data", "error", /no-such\.jsonl/],
  [["data.train_files=tasks:calk"], "no-training-data", "error", /did you mean calc/],
  [["custom_reward_function.path=no-such"], "no-reward", "error", /no-such/],
  [
    ["data.max_response_length=1000"],
    "context-too-short",
    "error",
    /1256, and the model holds 512/,
  ],
  [[`${rollout}.max_model_len=4096`], "max-model-len", "error", /made for 512/],
  [[`${rollout}.response_length=100`], "response-length-differs", "warning", /100 .* 128/],
  [["data.max_response_length=32"], "response-too-short", "warning", /32 tokens hardly/],
  [["data.max_prompt_length=5"], "prompts-too-long", "error", /at most 5 tokens/],
  [
    ["data.max_prompt_length=2", "data.filter_overlong_prompts=true"],
    "all-prompts-left-out",
    "error",
    /at most 2 tokens .* in all/,
  ],
  [
    ["actor_rollout_ref.model.lora_rank=5000"],
    "adapters",
    "error",
    /lora_rank must be at most .* 128, got 5000/,
  ],
  [
    ["actor_rollout_ref.model.lora_rank=4", "actor_rollout_ref.model.target_modules=x_proj"],
    "adapters",
    "error",
    /got x_proj/,
  ],
  [
    ["algorithm.adv_estimator=gae", "critic.model.path=no/critic"],
    "no-critic",
    "error",
    /no\/critic/,
  ],
  [["data.max_prompt_length=5", "data.truncation=left"], "prompts-cut", "warning", /on the left/],
  [["data.train_batch_size=10000"], "batch-over-data", "error", /512 training prompts/],
  [[`${actor}.ppo_mini_batch_size=64`], "mini-batch-over-batch", "warning", /one optimiser step/],
  [
    [`${actor}.ppo_mini_batch_size=3`],
    "bad-value",
    "error",
    /must divide data.train_batch_size .* 8, got 3/,
  ],
  [["trainer.n_gpus_per_node=7"], "rows-over-devices", "note", /7 devices/],
  [[`${actor}.ppo_max_token_len_per_gpu=100`], "pass-shorter-than-row", "warning", /384 tokens/],
  [[`${actor}.policy_loss.loss_mode=dro`], "bad-value", "error", /dro needs policy_loss.dro_beta/],
  [[`${actor}.policy_loss.loss_mode=cipso`], "bad-value", "error", /vanilla.*cispo/],
  [[`${actor}.policy_loss.beta1=0.5`], "loss-keys-idle", "warning", /beta1 \(ce_gppo\)/],
  [
    [`${actor}.policy_loss.loss_mode=cispo`, `${actor}.enable_entropy_balanced_clipping=true`],
    "balance-idle",
    "warning",
    /the loss is cispo/,
  ],
  [[`${actor}.policy_loss.loss_mode=gspo`], "gspo-by-tokens", "warning", /one ratio/],
  [[`${actor}.policy_loss.loss_mode=gspo_turn`], "mean-ratio-clip", "note", /hardly reach 0.2/],
  [[`${actor}.policy_loss.loss_mode=sapo`], "aggregation-idle", "note", /seq-mean-token-mean/],
  [[`${actor}.policy_loss.loss_mode=dppo_tv`], "dppo-cap", "note", /default is 20/],
  [["algorithm.adv_estimator=fr3e"], "states-unequal", "error", /branch_rule=arpo-code/],
  [
    ["algorithm.adv_estimator=spo_chain", "lab.branch_rule=never"],
    "no-values-on-the-way",
    "error",
    /no trajectory branches/,
  ],
  [["algorithm.adv_estimator=mt_grpo"], "turns-need-rewards", "note", /a tool must return one/],
  [
    ["algorithm.adv_estimator=turn_baseline", "lab.credit.turn_baseline.baseline=turn-index"],
    "biased-baseline",
    "warning",
    /shortens trajectories/,
  ],
  [["lab.credit.treerl.rule=paper"], "credit-keys-idle", "warning", /lab\.credit\.treerl\.rule/],
  [[`${rollout}.temperature=0`], "greedy-training", "error", /temperature=0: every trajectory/],
  [[`${rollout}.do_sample=false`], "greedy-training", "error", /do_sample=false/],
  [[`${rollout}.n=1`], "group-of-one", "error", /nothing to be compared with/],
  [[`${rollout}.n=2`, `${rollout}.initial_rollouts=1`], "small-group", "warning", /groups of 2/],
  [[`${rollout}.initial_rollouts=20`], "initial-over-n", "warning", /counts as 16/],
  [[`${rollout}.initial_rollouts=16`], "no-budget", "warning", /no trajectory ever branches/],
  [
    ["lab.branch_rule=appo", `${rollout}.initial_rollouts=16`],
    "no-budget",
    "warning",
    /appo leaves no trajectory/,
  ],
  [["lab.branch_rule=appo"], "same-policy", "note", /entropy alone/],
  [["lab.branch_rule=treepo"], "one-segment", "warning", /one segment of 512/],
  [[`${rollout}.beam_size=1`], "refills-only", "warning", /8 trajectories beyond/],
  [["lab.branch_rule=never"], "refills-only", "warning", /branch_rule=never/],
  [[`${rollout}.entropy_weight=0`], "entropy-ignored", "warning", /coin flip/],
  [[`${rollout}.branch_probability=0`], "never-branches", "warning", /only where entropy rises/],
  [
    ["lab.branch_rule=aepo-code", `${rollout}.branch_probability=1`],
    "bar-not-probability",
    "warning",
    /hardly ever/,
  ],
  [[`${rollout}.tools.call_limit=0`], "no-calls", "error", /first call of every trajectory/],
  [[`${rollout}.tools.timeout=0.1`], "timeout-too-short", "warning", /0\.1 s/],
  [[`${rollout}.tools.max_workers=1`], "tools-may-stall", "slow", /up to 38\.4 h|up to \d/],
  [
    [`${rollout}.mode=sync`, `++${rollout}.tools.tool_instances.python.class_path=python`],
    "tools-unused",
    "warning",
    /uses no tools/,
  ],
  [
    [`++${rollout}.tools.tool_instances.python.class_path=./no-such.js`],
    "tool-does-not-load",
    "warning",
    /goes on without it/,
  ],
  [[`${actor}.optim.lr=0.1`], "learning-rate", "warning", /unusual: more than 0\.0003/],
  [[`${actor}.grad_clip=1000`], "gradients-unclipped", "warning", /1000/],
  [[`${actor}.clip_ratio_high=5`], "clip-range", "warning", /hardly a clip/],
  [
    [`${actor}.clip_ratio=0.1`, `${actor}.clip_ratio_low=0.2`, `${actor}.clip_ratio_high=0.2`],
    "clip-ratio-idle",
    "note",
    /clip_ratio is 0\.1 and changes nothing/,
  ],
  [[`${rollout}.temperature=0.01`], "temperature-low", "warning", /ratios explode/],
  [[`${actor}.entropy_coeff=1`], "entropy-bonus", "warning", /unusual: entropy_coeff is 1/],
  [[`${rollout}.top_p=0.5`], "cut-off-sampling", "note", /ratios are over what was left/],
  [[`${rollout}.top_p=0.5`, "lab.sampling_mask=whole"], "cut-off-sampling", "warning", /0\.975/],
  [[`${actor}.kl_loss_coef=5`], "kl-weight", "warning", /outweighs/],
  [["trainer.logger=[console,tensorbord]"], "bad-value", "error", /tensorbord/],
  [["trainer.resume_mode=resume_path"], "bad-value", "error", /needs trainer.resume_from_path/],
  [["trainer.save_freq=-1"], "saves-once", "warning", /only the last is kept/],
  [["trainer.critic_warmup=5"], "warms-up-nothing", "warning", /no critic/],
  [["lab.sampler=int8"], "sampler-corrected", "note", /int8 weights.*p \/ p_sampler, at most 2/],
  [
    ["lab.sampler=int8", "lab.correct_sampler=false"],
    "sampler-uncorrected",
    "warning",
    /nothing corrects/,
  ],
  [
    ["algorithm.rollout_correction.rollout_rs=token_k9"],
    "correction-wrong",
    "error",
    /rejectThreshold must be given for token_k9/,
  ],
  [
    ["algorithm.rollout_correction.bypass_mode=true", `${actor}.policy_loss.loss_mode=cispo`],
    "bypass-loss",
    "error",
    /loss_mode is cispo/,
  ],
  [["algorithm.filter_groups.enable=true"], "filter-unlimited", "note", /never fills it/],
  [["trainer.nnodes=2"], "cluster-keys", "note", /trainer\.nnodes/],
];
for (const [overrides, id, status, says] of wrong) {
  test(`checkConfig() diagnoses ${id}: ${overrides.join(" ")}`, async () => {
    const checks = await diagnose(overrides);
    const found = checks.filter((check) => check.id === id);
    assert.equal(found.length, 1, JSON.stringify(checks, undefined, 1));
    assert.equal(found[0]!.status, status);
    assert.match(found[0]!.found, says);
    if (status === "error")
      assert.ok(found[0]!.fix !== undefined || id === "bad-value" || id === "no-reward");
  });
}

test("checkConfig() tells every mistaken key of a file at once", async (t) => {
  const file = join(folder(t), "run.yaml");
  writeFileSync(
    file,
    `data:\n  train_bath_size: 4\nactor_rollout_ref:\n  rollout:\n    entropy_wieght: 1\n    beam_size: two\nalgorithm:\n  adv_estimator: gpro\n`,
  );
  const checks = await diagnose([], { files: [file] });
  const keys = checks.filter(({ area }) => area === "keys");
  assert.deepEqual(
    keys.map(({ id }) => id),
    ["unknown-key", "unknown-key", "bad-value", "bad-value"],
  );
  assert.match(
    keys.map(({ fix }) => fix).join(),
    /entropy_weight.*train_batch_size|train_batch_size.*entropy_weight/,
  );
  assert.ok(checks.some(({ id }) => id === "steps")); // and the rest was looked at
  const [unreadable] = await diagnose([], { files: [join(folder(t), "none.yaml")] });
  assert.match(unreadable!.found, /must be readable/);
});

/** A configuration over prompts of one's own. */
async function withPrompts(
  t: TestContext,
  rows: { system?: string; answer?: string }[],
  overrides: string[] = [],
) {
  const file = join(folder(t), "train.jsonl");
  const lines = rows.map(({ system = "", answer = "4" }, index) =>
    JSON.stringify({
      data_source: "mine",
      prompt: [
        { role: "system", content: system },
        { role: "user", content: "What is 2 + 2?" },
      ],
      reward_model: { ground_truth: answer, style: "rule" },
      extra_info: { index },
    }),
  );
  writeFileSync(file, lines.join("\n"));
  return diagnose([
    ...[`data.train_files=${file}`, `data.val_files=${file}`, "data.train_batch_size=2"],
    ...overrides,
  ]);
}
const good =
  "Think in <think> </think>, call <python> </python> or <search> </search>, read <result> </result>, answer in <answer> </answer> with \\boxed{}.";

test("checkConfig() says why rewards may not move", async (t) => {
  const ids = async (
    ...args: Parameters<typeof withPrompts> extends [unknown, ...infer R] ? R : never
  ) =>
    (await withPrompts(t, ...args))
      .filter(({ area }) => area === "rewards")
      .map(({ id, status }) => `${status} ${id}`);
  const two = (row: object) => [row, row];
  assert.deepEqual(await ids(two({ system: good })), []);
  assert.deepEqual(await ids(two({ system: "Be brief." })), [
    "warning no-tool-instructions",
    "warning format-not-asked",
  ]);
  // A run would tell the model of its tools.
  const describe = ["actor_rollout_ref.rollout.tools.describe=true"];
  assert.deepEqual(await ids(two({ system: "Be brief." }), describe), ["warning format-not-asked"]);
  assert.deepEqual(await ids(two({ system: good.replaceAll("python", "code") })), [
    "error tag-mismatch",
  ]);
  assert.deepEqual(await ids(two({ system: good, answer: "" })), ["error no-ground-truth"]);
  assert.deepEqual(
    await ids(two({ system: good.replace("\\boxed", "\boxed") }), ["lab.repair_boxed=false"]),
    ["warning broken-boxed"],
  );
  assert.deepEqual(await ids(two({ system: good.replace("<answer> </answer>", "") })), [
    "warning format-not-asked",
  ]);
});

test("checkConfig() says that a model cannot spell a task's words, and which model can", async () => {
  const own = fileURLToPath(new URL("../../../examples/own-task/", import.meta.url));
  const checks = await diagnose([`data.train_files=${own}data/train.jsonl`]);
  const unknown = checks.find(({ id }) => id === "words-unknown");
  assert.equal(unknown?.status, "warning");
  assert.match(unknown.fix!, /arpo-lab fetch smollm2/);
});

test("checkConfig() estimates memory and time from the model's shape", async (t) => {
  // Qwen2.5-7B's shape, without its weights.
  const model = folder(t);
  cpSync(tiny, model, { recursive: true });
  const config = JSON.parse(readFileSync(join(tiny, "config.json"), "utf8")) as object;
  writeFileSync(
    join(model, "config.json"),
    JSON.stringify({
      ...config,
      ...{ hidden_size: 3584, intermediate_size: 18944, num_hidden_layers: 28, head_dim: 128 },
      ...{ num_attention_heads: 28, num_key_value_heads: 4, vocab_size: 152064 },
      ...{ tie_word_embeddings: false, max_position_embeddings: 32768 },
    }),
  );
  const at = (memory: number, more: string[] = []) =>
    checkConfig({
      preset: ["arpo", "7b"],
      overrides: [
        ...[`actor_rollout_ref.model.path=${model}`, "trainer.total_training_steps=10"],
        ...more,
      ],
      ...{ memory, speed: 1e11 },
    });
  const small = await at(24 * 2 ** 30);
  const found = small.find(({ id }) => id === "out-of-memory")!;
  assert.match(found.found, /of 24\.0 GiB, most of it/);
  assert.match(small.find(({ id }) => id === "model")!.found, /7\.62e\+3 M|7620 M|7\.6/);
  assert.equal(small.find(({ id }) => id === "slow-step")!.status, "slow");
  assert.equal((await at(4000 * 2 ** 30)).find(({ id }) => id === "memory-fits")!.status, "ok");
  const gigabytes = (checks: typeof small) =>
    Number(/about ([\d.]+) GiB/.exec(checks.map((c) => c.found).join("\n"))![1]);
  // Weights, gradients and two averages alone are 4 x 4 x 7.6e9 bytes.
  // The cache is most of it: 1,024 rows of 5,632 tokens, 28 layers, 4 x 128 keys and values.
  const cache = (1024 * 5632 * 28 * 2 * 4 * 128 * 4) / 2 ** 30;
  assert.ok(found.found.includes(`(${cache.toFixed(1)} GiB)`), found.found);
  assert.ok(gigabytes(small) > cache + 113 && gigabytes(small) < cache + 200);
  const critic = await at(24 * 2 ** 30, ["algorithm.adv_estimator=gae"]);
  assert.ok(gigabytes(critic) > gigabytes(small) + 110);
  const fewer = await at(24 * 2 ** 30, [`${rollout}.max_num_seqs=16`]);
  assert.ok(gigabytes(fewer) < gigabytes(small));
  const tied = await at(24 * 2 ** 30, [
    "actor_rollout_ref.model.enable_gradient_checkpointing=false",
  ]);
  assert.ok(gigabytes(tied) > gigabytes(small));
});

test("checkConfig() refuses a tokenizer of another model", async (t) => {
  const model = folder(t);
  cpSync(tiny, model, { recursive: true });
  const config = JSON.parse(readFileSync(join(tiny, "config.json"), "utf8")) as object;
  writeFileSync(join(model, "config.json"), JSON.stringify({ ...config, vocab_size: 500 }));
  const checks = await diagnose([`actor_rollout_ref.model.path=${model}`]);
  assert.match(checks.find(({ id }) => id === "vocabulary-mismatch")!.found, /608 .* 500/);
  writeFileSync(join(model, "config.json"), "{");
  const broken = await diagnose([`actor_rollout_ref.model.path=${model}`]);
  assert.ok(broken.some(({ id }) => id === "model-unreadable"));
});

test("checkConfig() tries the endpoints of tools and looks for their keys", async (t) => {
  const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const instance = `++${rollout}.tools.tool_instances`;
  const checks = await diagnose([
    `${instance}.web.class_path=search.searxng`,
    `${instance}.web.params.url=http://127.0.0.1:${port}`,
    `${instance}.gone.class_path=search.searxng`,
    `${instance}.gone.params.url=http://127.0.0.1:9`,
    `${instance}.search.class_path=search.bright-data`,
  ]);
  const endpoints = checks.filter(({ id }) => id === "endpoint");
  assert.deepEqual(
    endpoints.map(({ status }) => status),
    ["ok", "error"],
  );
  assert.match(endpoints[1]!.found, /tool <gone>: .*ECONNREFUSED/);
  const key = checks.find(({ id }) => id === "key")!;
  const there = Boolean(process.env["BRIGHT_DATA_API_KEY"]);
  assert.equal(key.status, there ? "ok" : "error");
});

test("endpointCheck() tells what an endpoint has, and whether it wants a key", async (t) => {
  const server = createServer((request, response) => {
    if (request.headers.authorization === "Bearer s3cret") {
      response.end(JSON.stringify({ data: [{ id: "one" }, { id: "two" }] }));
    } else response.writeHead(401).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  process.env["ARPO_LAB_TEST_DOCTOR_KEY"] = "s3cret";
  t.after(() => {
    delete process.env["ARPO_LAB_TEST_DOCTOR_KEY"];
  });
  const at = { url, use: "judge", openai: true };
  const refused = await endpointCheck(at);
  assert.deepEqual([refused.status, refused.fix], ["error", "its key is missing or wrong"]);
  const { found } = await endpointCheck({ ...at, apiKeyEnv: "ARPO_LAB_TEST_DOCTOR_KEY" });
  assert.match(found, /answers, with one, two$/);
  assert.match((await endpointCheck({ ...at, url: "no address" })).found, /judge/);
});

test("keyChecks() never shows a key", () => {
  const env = { OPENAI_API_KEY: "sk-very-secret", MINE: "also-secret" };
  const checks = keyChecks(["MINE", "YOURS"], env);
  assert.ok(!JSON.stringify(checks).includes("secret"));
  const [mine, yours] = checks;
  assert.deepEqual([mine!.status, yours!.status], ["ok", "error"]);
  assert.match(checks.map(({ found }) => found).join(), /OPENAI_API_KEY is set/);
});

test("showChecks() keeps to the width it has", () => {
  const found = "a long sentence that says the same thing once more, ".repeat(5);
  const table = showChecks([{ id: "x", area: "host", status: "warning", found, fix: found }], 60);
  assert.ok(table.split("\n").every((line) => line.length <= 60));
  assert.match(table, /^host {2}warning/);
  assert.match(table, /1 warning\n$/);
  assert.match(showChecks([]), /nothing wrong was found/);
});
