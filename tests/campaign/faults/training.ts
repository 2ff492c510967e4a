// Runs of `arpo-lab train` and `sft` that are disturbed, and go on afterwards.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { fingerprint, runToEnd, small, start } from "../../cli/training-run.js";
import type { Random } from "../../../src/base/random/random.js";
import { remount, smallDisk } from "../../small-disk.js";
import { type Area, type Attempt, Broken, type Place } from "../attempt.js";
import { disturbances, preloaded } from "./disturbed-process.js";

const program = fileURLToPath(new URL("../../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));
const tiny = fileURLToPath(new URL("../../../../data/models/tiny", import.meta.url));

/** A kind of run: its command, and where its steps are told. */
export interface Kind {
  name: string;
  args(place: Place, out: string): string[];
  said: RegExp;
}

const steps = [
  ...["trainer.total_training_steps=6", "trainer.save_freq=1", "trainer.test_freq=2"],
  "trainer.max_actor_ckpt_to_keep=3",
];
const train: Kind = {
  name: "train",
  args: (_, out) => [...small(...steps), "--out", out],
  said: /^ +[1-3]\/6 /m,
};

const rows = Array.from({ length: 12 }, (_, i) => ({
  conversations: [
    { from: "human", value: `What is ${i} + ${i}?` },
    { from: "gpt", value: `<answer>\\boxed{${2 * i}}</answer>` },
  ],
}));
const tune: Kind = {
  name: "sft",
  args: (place, out) => {
    const data = join(place.shared, "sft");
    mkdirSync(data, { recursive: true });
    const info = { toy: { file_name: "toy.jsonl", formatting: "sharegpt" } };
    writeFileSync(join(data, "dataset_info.json"), JSON.stringify(info));
    writeFileSync(join(data, "toy.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const yaml = place.path("sft.yaml");
    const keys = { model_name_or_path: tiny, dataset_dir: data, dataset: "toy", output_dir: out };
    const more = { max_steps: 6, save_steps: 1, num_train_epochs: 10, learning_rate: 0.001 };
    writeFileSync(yaml, JSON.stringify({ ...keys, ...more, finetuning_type: "full" }));
    return ["sft", yaml];
  },
  said: /^[1-4]\/6 /m,
};

const plain = (folder: string) => JSON.stringify(fingerprint(folder));

/** A run that nothing disturbs, made once in a campaign: its folder. */
export async function calmRun(place: Place, kind: Kind, more: string[] = []): Promise<string> {
  const out = join(place.shared, `calm-${kind.name}-${more.join(" ").replaceAll(/\W+/g, "-")}`);
  const finished = `${out}.done`;
  if (!existsSync(finished)) {
    const { status, output } = await runToEnd([...kind.args(place, out), ...more]);
    if (status !== 0) throw new Error(output);
    writeFileSync(finished, "");
  }
  return out;
}

/** Lets the run go on undisturbed, and holds what it has against a calm one. */
export async function goesOn(
  place: Place,
  kind: Kind,
  out: string,
  more: string[] = [],
): Promise<void> {
  const again = await runToEnd([...kind.args(place, out), ...more]);
  if (again.status !== 0) throw new Broken("lost", `it does not go on: ${again.output}`);
  const calm = await calmRun(place, kind, more);
  if (plain(out) !== plain(calm)) {
    assert.deepEqual(fingerprint(out), fingerprint(calm), "other bytes than a calm run");
  }
}

/** A run that is disturbed: how it ended, and what it said. */
async function disturbed(
  args: string[],
  disturb: (running: ReturnType<typeof start>) => Promise<void>,
  env: Record<string, string> = {},
): Promise<string> {
  const running = start(args, env);
  try {
    await disturb(running);
    return `ended with ${await running.ended}: ${running.output().slice(-300)}`;
  } finally {
    running.child.kill("SIGKILL");
  }
}

/** Waits for a moment of a run: some step, and a while behind it. */
const moment =
  (kind: Kind, ms: number, isEarly: boolean) => async (run: ReturnType<typeof start>) => {
    if (!isEarly) await Promise.race([run.said(kind.said), run.ended]);
    await Promise.race([pause(ms), run.ended]);
  };

const same = "nothing saved is lost; the same command goes on and ends with a calm run's bytes";

/** Every way to disturb a run of a kind. */
function ways(kind: Kind, random: Random): Attempt[] {
  const ms = Math.floor(700 * random.uniform() ** 2);
  const wait = moment(kind, ms, random.uniform() < 0.25);
  const run = (env: (place: Place) => Record<string, string>) => async (place: Place) => {
    const out = place.path("run");
    const nothing = () => Promise.resolve();
    const said = await disturbed(kind.args(place, out), nothing, env(place));
    await goesOn(place, kind, out);
    return said;
  };
  const signals = (["SIGKILL", "SIGKILL", "SIGTERM", "SIGINT"] as const).map((signal): Attempt => ({
    name: `${kind.name}: ${signal} after ${ms} ms`,
    promise: same,
    run: async (place) => {
      const out = place.path("run");
      const said = await disturbed(kind.args(place, out), async (running) => {
        await wait(running);
        running.child.kill(signal);
      });
      await goesOn(place, kind, out);
      return said;
    },
  }));
  const stopped: Attempt = {
    name: `${kind.name}: SIGSTOP after ${ms} ms, SIGCONT later`,
    promise: "it continues as if nothing had been",
    run: async (place) => {
      const out = place.path("run");
      const said = await disturbed(kind.args(place, out), async (running) => {
        await wait(running);
        running.child.kill("SIGSTOP");
        await pause(200 + ms);
        running.child.kill("SIGCONT");
      });
      await goesOn(place, kind, out);
      return said;
    },
  };
  const second: Attempt = {
    name: `${kind.name}: a second process on the same folder`,
    promise: "one is refused in words, the other ends with a calm run's bytes",
    run: async (place) => {
      const out = place.path("run");
      const args = kind.args(place, out);
      const both = await Promise.all([runToEnd(args), runToEnd(args)]);
      const refused = both.filter(({ status }) => status !== 0);
      if (refused.length > 1) throw new Broken("lost", both.map((one) => one.output).join("\n"));
      for (const { output } of refused) {
        assert.match(output, /one process may write it, got two/);
      }
      await goesOn(place, kind, out);
      return `${refused.length} refused`;
    },
  };
  const processes = disturbances(random).map(({ name, source }): Attempt => ({
    name: `${kind.name}: ${name}`,
    promise: same,
    run: run((place) => preloaded(place, source)),
  }));
  const files = 20 + random.integer(40);
  const limited: Attempt = {
    name: `${kind.name}: at most ${files} open files`,
    promise: "it runs or says why not, and goes on with more",
    run: async (place) => {
      const out = place.path("run");
      const command = `ulimit -n ${files}; exec "$0" "$@"`;
      const all = [process.execPath, program, ...kind.args(place, out)];
      const child = spawn("sh", ["-c", command, ...all], { stdio: ["ignore", "pipe", "pipe"] });
      let said = "";
      child.stdout.on("data", (data: Buffer) => (said += data.toString()));
      child.stderr.on("data", (data: Buffer) => (said += data.toString()));
      const status = await new Promise((done) => child.once("close", done));
      if (status !== 0) assert.match(said, /EMFILE|open files|ulimit/i, said);
      await goesOn(place, kind, out);
      return `status ${String(status)}: ${said.slice(-200)}`;
    },
  };
  const heap: Attempt = {
    name: `${kind.name}: a heap of 30 to 60 MB`,
    promise: same,
    run: run(() => ({ NODE_OPTIONS: `--max-old-space-size=${30 + random.integer(30)}` })),
  };
  const megabytes = 6 + random.integer(20);
  const full: Attempt = {
    name: `${kind.name}: a disk of ${megabytes} MB`,
    promise: "the disk is named; with room the same command continues to a calm run's bytes",
    run: async (place) => {
      const disk = await smallDisk(place, megabytes);
      if (disk === undefined) throw new Broken("skipped", "no disk can be mounted");
      const out = join(disk, "run");
      const { status, output } = await runToEnd(kind.args(place, out));
      if (status !== 0) assert.match(output, /the disk is full \(ENOSPC\)/, output);
      remount(disk, "size=120m");
      await goesOn(place, kind, out);
      return `status ${status}: ${output.slice(-200)}`;
    },
  };
  const readOnly: Attempt = {
    name: `${kind.name}: a disk that becomes read-only after ${ms} ms`,
    promise: "it says so in words; when it can be written the same command goes on",
    run: async (place) => {
      const disk = await smallDisk(place, 120);
      if (disk === undefined) throw new Broken("skipped", "no disk can be mounted");
      const out = join(disk, "run");
      const said = await disturbed(kind.args(place, out), async (running) => {
        await wait(running);
        const end = Date.now() + 5000;
        while (spawnSync("mount", ["-o", "remount,ro", disk]).status !== 0 && Date.now() < end);
      });
      if (/ended with 1/.test(said)) assert.match(said, /read-only|cannot be written \(EROFS\)/);
      remount(disk, "rw");
      await goesOn(place, kind, out);
      return said;
    },
  };
  return [...signals, stopped, second, ...processes, limited, heap, full, readOnly];
}

/** A reward that throws at random calls. */
function throwing(random: Random): Attempt {
  const share = 0.002 + 0.05 * random.uniform();
  return {
    name: `train: a reward that throws in ${(100 * share).toFixed(1)} % of its calls`,
    promise: "the task is named; with a whole reward the same command goes on",
    run: async (place) => {
      const reward = join(place.shared, "reward.mjs");
      const body = "return t.length % 3;";
      const throws = `if (process.env.ARPO_LAB_THROWS && Math.random() < ${share}) throw new Error("the judge is out");`;
      writeFileSync(reward, `export const compute_score = (t) => { ${body} };\n`);
      const bad = place.path("reward.mjs");
      writeFileSync(bad, `export const compute_score = (t) => { ${throws} ${body} };\n`);
      const out = place.path("run");
      const args = (path: string) => [
        ...train.args(place, out),
        `custom_reward_function.path=${path}`,
      ];
      const { status, output } = await runToEnd(args(bad), { ARPO_LAB_THROWS: "1" });
      if (status !== 0) {
        assert.match(
          output,
          /Cannot score task \S+, trajectory \d+: the reward threw the judge is out/,
        );
      }
      if (status !== 0 || existsSync(out)) {
        await goesOn(place, train, out, [`custom_reward_function.path=${reward}`]);
      }
      return `status ${status}: ${output.slice(-200)}`;
    },
  };
}

const kindOf = (kind: Kind, random: Random, more: Attempt[] = []): Attempt =>
  random.choose([...ways(kind, random), ...more]);

export const training: Area = {
  name: "train",
  share: 3,
  seconds: 180,
  make: (random) => kindOf(train, random, [throwing(random)]),
};

export const sft: Area = {
  name: "sft",
  share: 2,
  seconds: 180,
  make: (random) => kindOf(tune, random),
};

export { train as trainKind, tune as sftKind };
