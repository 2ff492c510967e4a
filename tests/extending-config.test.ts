import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { checkConfig } from "../src/doctor/check-config.js";
import { loadReward } from "../src/reward/load-reward.js";
import { stalenessLimits } from "../src/run/staleness/limits/registry.js";
import { choices } from "../src/run/config/choices.js";
import { configKeys } from "../src/run/config/keys.js";
import { loadConfig } from "../src/run/config/load.js";
import { openLoggers } from "../src/run/loggers/registry.js";
import { advantageOptions, rolloutOptions, updateOptions } from "../src/run/trainer/options.js";

// One file of a person's own with a definition of each kind that a configuration names. No other file knows it.

const folder = await mkdtemp(join(tmpdir(), "extending-config-"));
after(() => rm(folder, { recursive: true }));
const file = join(folder, "mine.ts");
await writeFile(
  file,
  `
  const advice = (id: string) => () => [{ id, status: "note", found: "told by its definition" }];
  export const rule = {
    name: "middles", title: "Middles", words: "where half is written", settings: {},
    choose: () => [], why: () => "the middle", advice: advice("middles"),
  };
  export const estimator = {
    name: "payoff", meaning: "m", formula: "f", settings: {}, besides: {},
    spans: () => [], advice: advice("payoff"),
  };
  export const loss = {
    name: "spring", title: "Sprung", aggregation: "token-mean", rule: "verl-0.9.1",
    tensors: () => { throw new Error("not computed here"); },
    token: () => ({}), advice: advice("spring"),
  };
  export const logger = {
    name: "tally", words: "a line a step",
    open: ({ write }) => ({ name: "tally", log: (step: number) => write("step " + step) }),
  };
  export const limit = {
    name: "window", title: "A window", words: "two updates", bound: 2, counts: "updates", older: "trained",
  };
  export const reward = { name: "brevity", words: "few letters", reward: () => 0.25 };
  export const dialect = {
    name: "parens", words: "a model of one's own", read: () => [],
    begins: { anywhere: () => ["(call "] }, ends: () => [")"], opening: () => "(call ",
    unfinished: () => "{}",
  };
  `,
);

const own = (kind: string) => `${file}#${kind}`;
const preset = ["grpo", "tiny"] as const;
const load = async (...overrides: string[]) => (await loadConfig({ preset, overrides })).config;
/** What doctor says of a configuration: its findings by name. */
const told = async (override: string) =>
  new Map(
    (await checkConfig({ preset, overrides: [override], speed: false })).map(
      ({ id, found }) => [id, found] as const,
    ),
  );

/** A kind that a configuration names, and where a person sees what was added. */
interface Kind {
  kind: string;
  key: string;
  name: string;
  slip: string;
  /** What help says of the key then. */
  help: RegExp;
  /** What doctor says of a run with it. */
  advice?: string;
  /** What a run reads of the configuration. */
  read: (config: Awaited<ReturnType<typeof load>>) => unknown;
  list?: true;
}

const kinds: readonly Kind[] = [
  {
    ...{ kind: "rule", key: "lab.branch_rule", name: "middles", slip: "midles" },
    ...{ help: /; added: middles \(where half is written\)$/, advice: "middles" },
    read: (config) => (rolloutOptions(config).rule as { name?: string }).name,
  },
  {
    ...{ kind: "estimator", key: "algorithm.adv_estimator", name: "payoff", slip: "payof" },
    ...{ help: /; added: payoff$/, advice: "payoff" },
    read: (config) => (advantageOptions(config).estimator as { name?: string }).name,
  },
  {
    ...{ kind: "loss", key: "actor_rollout_ref.actor.policy_loss.loss_mode", name: "spring" },
    ...{ slip: "sprng", help: /; added: spring \(Sprung\)$/, advice: "spring" },
    read: (config) => (updateOptions(config).loss as { name?: string }).name,
  },
  {
    ...{ kind: "dialect", key: "actor_rollout_ref.rollout.tools.calls", name: "parens" },
    ...{ slip: "parnes", help: /; added: parens \(a model of one's own\)$/ },
    read: (config) => (rolloutOptions(config).calls as { name?: string }).name,
  },
  {
    ...{ kind: "logger", key: "trainer.logger", name: "tally", slip: "taly", list: true },
    help: /, tally \(a line a step\)$/,
    read: async (config) => {
      const run = { folder, project: "p", run: "r", config: {}, write: () => undefined };
      return (await openLoggers(config.trainer.logger, run, assert.fail)).at(-1)!.name;
    },
  },
  {
    ...{ kind: "limit", key: "lab.staleness_limit", name: "window", slip: "windw" },
    help: /; added: window \(two updates\)$/,
    read: (config) => stalenessLimits.get(String(config.lab.staleness_limit))?.name,
  },
  {
    ...{ kind: "reward", key: "custom_reward_function.path", name: "brevity", slip: "brevty" },
    help: /; added: brevity \(few letters\)$/,
    read: async (config) => {
      const reward = await loadReward(config.custom_reward_function.path);
      return (reward as () => number)() === 0.25 ? "brevity" : undefined;
    },
  },
];

const setting = ({ key, list }: Kind, value: string) =>
  `${key}=${list ? `[console,"${value}"]` : value}`;

test("these are the kinds that a configuration names", () => {
  assert.deepEqual(kinds.map(({ key }) => key).sort(), choices.map(({ key }) => key).sort());
});

for (const one of kinds) {
  const { kind, key, name, slip, help, advice, read } = one;
  test(`a ${kind} of one's own is named by its file, then by its name`, async () => {
    const described = () => configKeys().find(({ path }) => path === key)!.description!;
    assert.ok(!described().includes(name));
    assert.equal(await read(await load(setting(one, own(kind)))), name);
    assert.match(described(), help);
    // What a run writes down loads again, and the name alone is enough from now on.
    assert.equal(await read(await load(setting(one, name))), name);
  });

  test(`a slip of a ${kind} of one's own is told with its name`, async () => {
    await load(setting(one, own(kind)));
    const found = await told(setting(one, slip));
    // A reward is read with the parts of a run; what the others may be stands in the schema.
    if (kind === "reward") {
      assert.match(found.get("no-reward")!, /brevity, .*got brevty; did you mean brevity\?$/);
    } else {
      assert.match(found.get("bad-value")!, new RegExp(`${name}.*got .*${slip}`));
      await assert.rejects(load(setting(one, slip)), new RegExp(`${name}.*got .*${slip}`));
    }
  });

  if (advice === undefined) continue;
  test(`doctor says what the definition of a ${kind} says`, async () => {
    const found = await told(setting(one, own(kind)));
    assert.equal(found.get(advice), "told by its definition");
  });
}

test("a list names several of one's own; a file alone is still the reward's function", async () => {
  const { trainer } = await load(`trainer.logger=[console,"${own("logger")}",tensorboard]`);
  assert.deepEqual(trainer.logger, ["console", own("logger"), "tensorboard"]);
  const plain = join(folder, "plain.ts");
  await writeFile(plain, "export const compute_score = () => 0.75;");
  const config = await load(`custom_reward_function.path=${plain}`);
  const reward = await loadReward(config.custom_reward_function.path);
  assert.equal((reward as () => number)(), 0.75);
  await assert.rejects(
    load(`custom_reward_function.path=${plain}#compute_score`),
    /Cannot load a reward: .*plain.ts must export a reward compute_score, got a function/,
  );
});
