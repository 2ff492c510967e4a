import { Command, InvalidArgumentError } from "commander";
import { configured } from "./learn.js";

function amount(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError("It must be a number of 0 or more.");
}

/** `1..10` or `1,2,5`. */
function seeds(text: string): number[] {
  const range = /^(\d+)\.\.(\d+)$/.exec(text);
  const all = range
    ? Array.from(
        { length: Math.max(0, Number(range[2]) - Number(range[1]) + 1) },
        (_, i) => Number(range[1]) + i,
      )
    : text.split(",").map(Number);
  if (all.length > 0 && all.every((seed) => Number.isSafeInteger(seed))) return all;
  throw new InvalidArgumentError("It must be 1..10 or 1,2,5.");
}

/** `key=a,b`, as often as there are keys. */
function axis(text: string, before: Record<string, string[]> = {}): Record<string, string[]> {
  const [, key, values] = /^([\w.]+)=(.+)$/.exec(text) ?? [];
  if (key === undefined || values === undefined) {
    throw new InvalidArgumentError("It must be key=a,b.");
  }
  return { ...before, [key]: values.split(",") };
}

const list = (text: string, before: string[]) => [...before, text];

/** `tag=what`. */
function tool(text: string, before: Record<string, string>): Record<string, string> {
  const [, tag, what] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (tag === undefined || what === undefined)
    throw new InvalidArgumentError("It must be tag=what.");
  return { ...before, [tag]: what };
}

/** `arpo-lab submit | jobs | export | import`: runs on a Ray cluster, and job folders for verl. */
export function scaleCommands(): Command[] {
  const submit = configured(new Command("submit"))
    .description("train on a Ray cluster: one run, or a sweep over seeds and settings")
    .requiredOption("--address <url>", "the cluster's head, http://HEAD:8265")
    .option("--token-env <name>", "the variable that holds its token; without it, RAY_AUTH_TOKEN")
    .option("--name <name>", "part of the ids of its jobs")
    .option("--package <what>", "image, a path on the nodes, or a .tgz of this machine", "image")
    .option("--storage <folder>", "a folder the nodes share, for the run folder")
    .option("--cpus <n>", "processors that a run reserves", amount, 1)
    .option("--gpus <n>", "GPUs that a run reserves", amount, 0)
    .option("--engine <name>", "what trains there: lab, or verl 0.9.1 of the nodes", "lab")
    .option("--tool <tag=what>", "for verl: calculator, or a Python module:function", tool, {})
    .option("--reward <file>", "for verl: a Python file with compute_score")
    .option("--verl <key=value>", "for verl: a setting in its own names; may be repeated", list, [])
    .option("--node <where>", "there, or wheel: Node.js from PyPI", "there")
    .option("--seeds <list>", "a run for each: 1..10 or 1,2,5", seeds)
    .option("--grid <key=a,b>", "a run for each value; may be repeated", axis)
    .option("--at-once <n>", "runs of a sweep at the same time", amount)
    .option("--detach", "return when it is sent")
    .action(async (overrides: string[], options) =>
      (await import("../scale/submit.js")).submitRun(overrides, options),
    );
  const jobs = new Command("jobs").description("runs that were sent to clusters from this machine");
  jobs
    .command("list", { isDefault: true })
    .description("all of them, and where they stand")
    .option("--kept", "as they were known last; no cluster is asked")
    .action(async (options: { kept?: boolean }) =>
      (await import("../scale/jobs.js")).listJobs(options),
    );
  jobs
    .command("logs")
    .description("a job's log from its first line on, until it is over")
    .argument("<id>")
    .action(async (id: string) => (await import("../scale/jobs.js")).showLog(id));
  jobs
    .command("attach")
    .description("write a run's figures into a folder as they come, for board(folder)")
    .argument("<id>", "a job's id, or a sweep's name: then its runs are driven on")
    .option("--out <folder>", "the folder; without it, runs/ID")
    .action(async (id: string, options: { out?: string }) =>
      (await import("../scale/jobs.js")).attachTo(id, options),
    );
  jobs
    .command("stop")
    .description("end a job behind the step that is under way, which is saved")
    .argument("<id>")
    .action(async (id: string) => (await import("../scale/jobs.js")).stopJob(id));
  jobs
    .command("retry")
    .description("send a run again: it goes on from its last checkpoint")
    .argument("<id>")
    .action(async (id: string) => (await import("../scale/jobs.js")).retryJob(id));
  jobs
    .command("fetch")
    .description("bring a run folder here")
    .argument("<id>")
    .argument("[folder]", "where to; without it, runs/ID")
    .option("--checkpoints", "its checkpoints too")
    .action(async (id: string, folder: string | undefined, options: { checkpoints?: boolean }) =>
      (await import("../scale/jobs.js")).fetchRun(id, folder, options),
    );
  const exported = new Command("export")
    .description("write a job folder for verl 0.9.1")
    .argument("<folder>", "where it goes")
    .argument("[overrides...]", "key=value, ++key=value or ~key")
    .option("--config <file>", "a YAML file with verl's keys; may be repeated", list, [])
    .option("--preset <name>", "grpo, arpo, aepo, tiny, 7b, …; may be repeated", list, [])
    .option("--to <engine>", "verl", "verl")
    .option("--tool <tag=what>", "calculator, or a Python module:function", tool, {})
    .option("--reward <file>", "a Python file with compute_score")
    .option("--verl <key=value>", "a setting in verl's own names; may be repeated", list, [])
    .option(
      "--package <what>",
      "for what runs in Node there: image, a path on the nodes, or a .tgz",
    )
    .action(async (folder: string, overrides: string[], { to, ...options }) => {
      if (to !== "verl") throw new RangeError(`Cannot export: --to must be verl, got ${to}`);
      await (await import("../scale/export.js")).exportRun(folder, overrides, options);
    });
  const imported = new Command("import")
    .description(
      "make a configuration of a shell script that starts verl, or a run folder of a job that ran there",
    )
    .argument("<from>", "the .sh file (nothing of it is run), or a folder that `export` wrote")
    .argument("<out>", "the YAML file, or the run folder, to write")
    .action(async (script: string, out: string) =>
      (await import("../scale/export.js")).importRun(script, out),
    );
  return [submit, jobs, exported, imported];
}
