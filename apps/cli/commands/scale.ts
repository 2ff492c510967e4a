import { list, notNegative, pair, seeds } from "../terminal/values.js";
import { configFiles, configured } from "./options.js";
import { Command } from "commander";

const axis = pair("key=a,b", (values) => values.split(","));
const tool = pair("tag=what", String);

/** `arpo-lab submit | jobs | export | import`: runs on a Ray cluster, and job folders for verl. */
export function scaleCommands(): Command[] {
  const submit = configured(new Command("submit"))
    .description("train on a Ray cluster: one run, or a sweep over seeds and settings")
    .requiredOption("--address <url>", "address of the cluster's head node, http://HEAD:8265")
    .option(
      "--token-env <name>",
      "environment variable with the cluster's token; default: RAY_AUTH_TOKEN",
    )
    .option("--name <name>", "name to use in job ids")
    .option(
      "--package <what>",
      "where the package comes from: image, a path on the nodes, or a .tgz on this machine",
      "image",
    )
    .option("--storage <folder>", "folder that the nodes share, for the run folder")
    .option("--cpus <n>", "CPUs per run", notNegative, 1)
    .option("--gpus <n>", "GPUs per run", notNegative, 0)
    .option("--engine <name>", "training engine: lab, or verl 0.9.1 on the nodes", "lab")
    .option(
      "--tool <tag=what>",
      "for verl: a tool: a tool: calculator, or a Python module:function",
      tool,
      {},
    )
    .option("--reward <file>", "for verl: a Python file with compute_score")
    .option(
      "--verl <key=value>",
      "for verl: override one of verl's own settings; may be repeated",
      list,
      [],
    )
    .option(
      "--node <where>",
      "Node.js on the nodes: there (installed), or wheel (from PyPI)",
      "there",
    )
    .option("--seeds <list>", "one run per seed: 1..10 or 1,2,5", seeds)
    .option("--grid <key=a,b>", "one run per value; may be repeated", axis)
    .option("--at-once <n>", "most runs at the same time", notNegative)
    .option("--detach", "return as soon as the job is submitted")
    .action(async (overrides: string[], options) =>
      (await import("../scale/submit.js")).submitRun(overrides, options),
    );
  const jobs = new Command("jobs").description("list and control runs on clusters");
  jobs
    .command("list", { isDefault: true })
    .description("list runs with their status")
    .option("--kept", "print the last known status without asking a cluster")
    .action(async (options: { kept?: boolean }) =>
      (await import("../scale/jobs.js")).listJobs(options),
    );
  jobs
    .command("logs")
    .description("print and follow a job's log from its first line")
    .argument("<id>")
    .action(async (id: string) => (await import("../scale/jobs.js")).showLog(id));
  jobs
    .command("attach")
    .description("write a run's metrics into a local folder while it runs, for board(folder)")
    .argument("<id>", "a job id, or a sweep's name to resume the sweep")
    .option("--out <folder>", "folder to write; default: runs/ID")
    .action(async (id: string, options: { out?: string }) =>
      (await import("../scale/jobs.js")).attachTo(id, options),
    );
  jobs
    .command("stop")
    .description("stop a job after its current step, and save it")
    .argument("<id>")
    .action(async (id: string) => (await import("../scale/jobs.js")).stopJob(id));
  jobs
    .command("retry")
    .description("submit a run again: it resumes from its last checkpoint")
    .argument("<id>")
    .action(async (id: string) => (await import("../scale/jobs.js")).retryJob(id));
  jobs
    .command("fetch")
    .description("download a run folder")
    .argument("<id>")
    .argument("[folder]", "folder to write; default: runs/ID")
    .option("--checkpoints", "also download checkpoints")
    .action(async (id: string, folder: string | undefined, options: { checkpoints?: boolean }) =>
      (await import("../scale/jobs.js")).fetchRun(id, folder, options),
    );
  const exported = configFiles(new Command("export"))
    .description("write a job folder for verl 0.9.1")
    .argument("<folder>", "folder to write")
    .argument("[overrides...]", "key=value, ++key=value or ~key")
    .option("--to <engine>", "verl", "verl")
    .option("--tool <tag=what>", "a tool: calculator, or a Python module:function", tool, {})
    .option("--reward <file>", "a Python file with compute_score")
    .option("--verl <key=value>", "override one of verl's own settings; may be repeated", list, [])
    .option(
      "--package <what>",
      "where the Node package comes from: image, a path on the nodes, or a .tgz",
    )
    .action(async (folder: string, overrides: string[], { to, ...options }) => {
      if (to !== "verl") throw new RangeError(`Cannot export: --to must be verl, got ${to}`);
      await (await import("../scale/export.js")).exportRun(folder, overrides, options);
    });
  const imported = new Command("import")
    .description(
      "convert a shell script that starts verl to a configuration, or a finished verl job to a run folder",
    )
    .argument("<from>", "a .sh file (it is read, not run), or a folder that `export` wrote")
    .argument("<out>", "the YAML file or run folder to write")
    .action(async (script: string, out: string) =>
      (await import("../scale/export.js")).importRun(script, out),
    );
  return [submit, jobs, exported, imported];
}

/** `arpo-lab sidecar`: started by the scripts of a job folder, not by people. */
export function sidecarCommand(): Command {
  return new Command("sidecar")
    .description("serve a job folder's TypeScript tools and reward to a worker of verl")
    .argument("<folder>", "what `export` wrote")
    .argument("<socket>", "where the worker listens")
    .action(async (folder: string, socket: string) => {
      const { serveSidecar } = await import("../../../src/interop/verl/sidecar/serve-sidecar.js");
      await serveSidecar(folder, socket);
      // A tool that left something running does not keep it.
      process.exit(0);
    });
}
