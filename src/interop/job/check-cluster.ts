import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  milliseconds,
  oneOf,
  type OptionRules,
  optionsOf,
} from "../../../common/options/check-options.js";
import { loadRules } from "../../run/config/load-and-check.js";
import { modelFolder } from "../../model/files/model-folder.js";
import { loadConfig } from "../../run/config/load.js";
import type { LoadOptions } from "../../run/config/options.js";
import type { Config } from "../../run/config/schema.js";
import { RayApi, type RayNode } from "../ray/ray-api.js";
import { RayConnection, RayError } from "../ray/ray-connection.js";
import { zipOf } from "../ray/zip.js";
import { type Check, findings } from "../../doctor/check.js";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";

/** What a node says of itself: `sh probe.sh FOLDER NAME`. */
const script = `say() { printf 'probe %s %s\\n' "$1" "$2"; }
say node "$(node --version 2>/dev/null || echo none)"
say arpo-lab "$(arpo-lab --version 2>/dev/null || echo none)"
say verl "$(python3 -c 'import importlib.metadata as m; print(m.version("verl"))' 2>/dev/null || echo none)"
[ -n "$1" ] || exit 0
mine=$1/.arpo-lab-node-$2
if mkdir -p "$1" 2>/dev/null && : 2>/dev/null >"$mine"; then say storage written; rm -f "$mine"; else say storage refused; fi
if [ -e "$1/.arpo-lab-$2" ]; then say shared yes; else say shared no; fi
`;

const { ok, note, warning, error: wrong } = findings("cluster");
const pause = (ms: number) => new Promise((later) => setTimeout(later, ms));

/** Lines of a small job on one of the nodes; it runs within the time given or is stopped. */
async function run(api: RayApi, args: readonly string[], limitMs: number): Promise<string> {
  const working = await api.upload(zipOf([{ name: "probe.sh", data: Buffer.from(script) }]));
  const id = `doctor-${randomBytes(4).toString("hex")}`;
  const words = args.map((one) => `'${one.replaceAll("'", `'\\''`)}'`).join(" ");
  await api.submit({
    ...{ submission_id: id, entrypoint: `sh probe.sh ${words}` },
    ...{ runtime_env: { working_dir: working }, metadata: { by: "arpo-lab doctor" } },
    entrypoint_num_cpus: 0.1,
  });
  const end = Date.now() + limitMs;
  for (;;) {
    const job = await api.job(id);
    if (job && !["PENDING", "RUNNING"].includes(job.status)) break;
    if (Date.now() > end) {
      await api.stop(id);
      throw new Error(`a small job did not run within ${limitMs / 1000} s; it was stopped`);
    }
    await pause(200);
  }
  return api.log(id);
}

/** What was wanted of the nodes. */
interface NodeWishes {
  engine: "lab" | "verl";
  /** A folder that all of them share. */
  storage?: string;
  limitMs: number;
}

/** Runs a small job there: which programs a node has, and whether the shared folder is one, seen from both ends. */
async function probeNodes(api: RayApi, wishes: NodeWishes): Promise<Check[]> {
  const { storage = "", engine, limitMs } = wishes;
  const name = randomBytes(4).toString("hex");
  const mark = join(storage || "/", `.arpo-lab-${name}`);
  const here =
    storage !== "" &&
    (await writeFile(mark, "").then(
      () => true,
      () => false,
    ));
  let text: string;
  try {
    text = await run(api, [storage, name], limitMs);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    const fix = "look at the cluster's dashboard: do its nodes run jobs?";
    return [wrong("cluster-job", found, fix)];
  } finally {
    if (here) await rm(mark, { force: true });
  }
  const said = new Map<string, string>();
  for (const [, what, value] of text.matchAll(/^probe (\S+) (.*)$/gm)) said.set(what!, value!);
  const checks = [versions(said, engine)];
  return storage === "" ? checks : [...checks, shared(said, storage, here)];
}

function versions(said: ReadonlyMap<string, string>, engine: "lab" | "verl"): Check {
  const of = (what: string) => said.get(what) ?? "none";
  const found = `a node has Node.js ${of("node")}, arpo-lab ${of("arpo-lab")}, verl ${of("verl")}`;
  const id = "cluster-versions";
  if (engine === "verl") {
    if (of("verl") === "0.9.1") return ok(id, found);
    return wrong(id, found, 'pip install "verl[vllm]==0.9.1" on every node');
  }
  const major = Number(/^v(\d+)/.exec(of("node"))?.[1] ?? 0);
  if (major >= 20 && of("arpo-lab") !== "none") return ok(id, found);
  const fix =
    major >= 20
      ? "submit with --package PATH or a .tgz, or install arpo-lab in the image"
      : "submit with --node wheel, or an image with Node.js 20.19 or newer";
  return warning(id, found, fix);
}

function shared(said: ReadonlyMap<string, string>, storage: string, here: boolean): Check {
  const id = "cluster-storage";
  if (said.get("storage") !== "written") {
    const fix = "mount it there, or let the user of Ray's processes write to it";
    return wrong(id, `a node cannot write to ${storage}`, fix);
  }
  if (said.get("shared") === "yes") {
    return ok(id, `${storage} is one folder, written from here and there`);
  }
  const found = here
    ? `${storage} is there and here, but not the same folder`
    : `a node writes to ${storage}; this machine does not`;
  const fix = here
    ? "mount the nodes' folder here, or rely on jobs fetch without it"
    : "figures still come over the log; jobs fetch of a run on verl wants the folder mounted here";
  return warning(id, found, fix);
}

/** Memory of a card in GB, by what Ray calls it; the smaller where there are two of a name. */
const cards: Readonly<Record<string, number>> = {
  ...{ V100: 16, T4: 16, A10G: 24, L4: 24, "A100-40G": 40, A100: 40, "A100-80G": 80, L40S: 48 },
  ...{ H100: 80, H200: 141, B200: 180, "AMD-Instinct-MI300X-OAM": 192 },
};

/** GPUs that a configuration asks for, against those that are there. */
function checkGpus({ trainer }: Config, nodes: readonly RayNode[]): Check {
  const { nnodes, n_gpus_per_node: each } = trainer;
  const fitting = nodes.filter(({ gpus }) => gpus >= each).length;
  const found = `verl asks for ${nnodes} nodes with ${each} GPUs each; ${fitting} of the ${nodes.length} there have them`;
  if (fitting >= nnodes) return ok("cluster-gpus", found);
  const most = Math.max(0, ...nodes.map(({ gpus }) => gpus));
  const fix = `trainer.nnodes and trainer.n_gpus_per_node (${most} at most), or more nodes`;
  return wrong("cluster-gpus", found, fix);
}

/** Parameters in billions: of the model's own sizes where it is here, else what its name says. */
function billions(path: string): number | undefined {
  const file = join(modelFolder(path), "config.json");
  if (existsSync(file)) {
    const said = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    const size = (key: string): number => Number(said[key] ?? NaN);
    const [width, layers, inner] = [
      size("hidden_size"),
      size("num_hidden_layers"),
      size("intermediate_size"),
    ];
    const heads = size("num_attention_heads");
    const keys = Number(said["num_key_value_heads"] ?? heads);
    const head = Number(said["head_dim"] ?? width / heads);
    const attention = 2 * width * head * (heads + keys);
    const words = size("vocab_size") * width * (said["tie_word_embeddings"] === true ? 1 : 2);
    const all = layers * (attention + 3 * width * inner) + words;
    if (Number.isFinite(all)) return all / 1e9;
  }
  const named = /(\d+(?:\.\d+)?)\s*b\b/i.exec(path)?.[1];
  return named === undefined ? undefined : Number(named);
}

const shown = (gb: number): string => (gb < 1 ? gb.toFixed(3) : gb.toFixed(0));

/**
 * Whether the model fits, by arithmetic: 16 bytes a parameter over all cards to train (FSDP), two on each group of
 * cards that samples. What rows take comes on top.
 */
function checkModelFits(config: Config, nodes: readonly RayNode[]): Check {
  const { model, rollout, actor } = config.actor_rollout_ref;
  const { nnodes, n_gpus_per_node: each } = config.trainer;
  const id = "cluster-model";
  const size = billions(model.path);
  if (size === undefined) {
    return note(
      id,
      `how large ${model.path} is says neither a folder of this machine nor its name`,
    );
  }
  const offloaded = actor.fsdp_config.optimizer_offload && actor.fsdp_config.param_offload;
  const kept = offloaded || model.lora_rank > 0 ? 2 : 16;
  const training = (kept * size) / (nnodes * each);
  const split = rollout.tensor_model_parallel_size;
  const sampling = (2 * size) / split;
  const names = [...new Set(nodes.flatMap(({ accelerators }) => accelerators))];
  const known = names.map((name) => cards[name]).filter((gb) => gb !== undefined);
  const memory = known.length > 0 ? Math.min(...known) : undefined;
  const of =
    memory === undefined
      ? "of memory nobody says how large"
      : `of ${memory} GB (${names.join(", ")})`;
  const found = `${shown(size)} billion parameters: ${shown(training)} GB a card to train, ${shown(sampling)} GB to sample, on cards ${of}; trajectories come on top`;
  if (memory === undefined) return note(id, found);
  if (training > 0.8 * memory) {
    const fix =
      "more GPUs, actor_rollout_ref.actor.fsdp_config.param_offload and optimizer_offload, or actor_rollout_ref.model.lora_rank";
    return wrong(id, found, fix);
  }
  if (sampling > rollout.gpu_memory_utilization * memory) {
    const fix = "actor_rollout_ref.rollout.tensor_model_parallel_size, or gpu_memory_utilization";
    return wrong(id, found, fix);
  }
  return ok(id, found);
}

/** What is to run there. */
export interface ClusterWishes {
  tokenEnv?: string;
  /** Milliseconds for an answer. @default 10_000 */
  timeoutMs?: number;
  /** What trains there. @default "lab" */
  engine?: "lab" | "verl";
  /** The run; with `engine: "verl"` its GPUs are counted and its model is measured. */
  experiment?: LoadOptions;
  /** A folder that the nodes share. With it, or with an engine, a small job looks at a node. */
  storage?: string;
  /** Milliseconds for that job. @default 120_000 */
  jobMs?: number;
}

const rules: OptionRules<ClusterWishes> = {
  tokenEnv: "text?",
  timeoutMs: milliseconds,
  engine: oneOf(["lab", "verl"]),
  experiment: optionsOf<LoadOptions>(loadRules),
  storage: "path?",
  jobMs: milliseconds,
};
/** The version whose answers were tried. */
const tried = /^2\.(5\d|6\d)\./;
const here = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * What a Ray cluster is, and what stands in the way of a run there: address, token, versions, nodes, and for a run on
 * verl its GPUs and whether its model fits. With `engine` or `storage` a small job looks at a node: its programs, and
 * whether the folder is shared.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkCluster } from "arpo-lab/experimental/doctor";
 *
 * // Nothing listens on port 9.
 * const [check] = await checkCluster("http://127.0.0.1:9");
 * assert.deepEqual([check.id, check.status], ["cluster", "error"]);
 * ```
 */
export async function checkCluster(address: string, options: ClusterWishes = {}): Promise<Check[]> {
  checkArguments("check a cluster", { address }, { address: "text" });
  checkOptions("check a cluster", options, rules);
  const { engine, storage, experiment, jobMs = 120_000, timeoutMs = 10_000, tokenEnv } = options;
  if (storage !== undefined && !isAbsolute(storage)) {
    throw new RangeError(
      `Cannot check a cluster: storage must be an absolute path on the nodes, got ${storage}`,
    );
  }
  try {
    const connection = new RayConnection({ address, timeoutMs, ...(tokenEnv ? { tokenEnv } : {}) });
    const api = new RayApi(connection);
    const [{ ray }, nodes] = [await api.version(), await api.nodes()];
    const alive = nodes.filter((node) => node.alive);
    const all = (what: "cpus" | "gpus") => alive.reduce((sum, node) => sum + node[what], 0);
    const dead = nodes.length - alive.length;
    const found = `${alive.length} nodes with ${all("cpus")} processors and ${all("gpus")} GPUs${dead > 0 ? `; ${dead} were lost` : ""}`;
    const checks = [
      version(connection.url, ray),
      access(connection),
      alive.length > 0
        ? ok("cluster-nodes", found)
        : wrong("cluster-nodes", found, "start a node: ray start --address HEAD:6379"),
    ];
    if (engine === "verl" && experiment) {
      const { config } = await loadConfig(experiment);
      checks.push(checkGpus(config, alive), checkModelFits(config, alive));
    }
    if ((engine ?? storage) !== undefined && alive.length > 0) {
      const wishes = { engine: engine ?? "lab", limitMs: jobMs, ...(storage ? { storage } : {}) };
      checks.push(...(await probeNodes(api, wishes)));
    }
    return checks;
  } catch (error) {
    const { message, status } =
      error instanceof RayError ? error : { message: String(error), status: undefined };
    const fix =
      status === 401 || status === 403
        ? "put its token into RAY_AUTH_TOKEN, or name the variable: --token-env"
        : "start it (ray start --head), or fix the address";
    return [wrong("cluster", message, fix)];
  }
}

function version(url: string, ray: string): Check {
  const found = `Ray ${ray} answers at ${url}`;
  if (tried.test(ray)) return ok("cluster", found);
  const fix = "Ray 2.60 is what jobs were tried with; another may answer otherwise";
  return warning("cluster", found, fix);
}

/** Who else may run programs there. */
function access(connection: RayConnection): Check {
  const id = "cluster-token";
  const { protocol, hostname } = new URL(connection.url);
  if (connection.headers().authorization === undefined) {
    const fix = "start it with a token: RAY_AUTH_MODE=token (ray get-auth-token --generate)";
    const found = "it asks for no token: whoever reaches it runs programs there";
    return warning(id, found, fix);
  }
  if (protocol === "http:" && !here.has(hostname)) {
    const fix = "a tunnel (ssh -L 8265:localhost:8265 HEAD), or a proxy that speaks TLS";
    const found = "the token, which is the whole cluster's key, is sent in clear text";
    return warning(id, found, fix);
  }
  return ok(id, "the token is the cluster's");
}
