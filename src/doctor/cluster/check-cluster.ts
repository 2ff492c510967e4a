import { isAbsolute } from "node:path";
import { checkArguments } from "../../arguments/check-arguments.js";
import { RayApi } from "../../scale/ray/ray-api.js";
import { RayConnection } from "../../scale/ray/ray-connection.js";
import { RayError } from "../../scale/ray/ray-error.js";
import { loadConfig } from "../../run/config/load.js";
import type { LoadOptions } from "../../run/config/options.js";
import type { Check } from "../check.js";
import { checkGpus, checkModelFits } from "./check-fit.js";
import { probeNodes } from "./probe-nodes.js";

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

const area = "cluster";
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
  checkArguments(
    "check a cluster",
    { address, options },
    {
      address: "text",
      options: { tokenEnv: "text?", timeoutMs: "number?", storage: "path?", experiment: "object?" },
    },
  );
  const { engine, storage, experiment, jobMs = 120_000, timeoutMs = 10_000, tokenEnv } = options;
  if (engine !== undefined && engine !== "lab" && engine !== "verl") {
    throw new RangeError(
      `Cannot check a cluster: engine must be lab or verl, got ${String(engine)}`,
    );
  }
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
    const checks: Check[] = [
      version(connection.url, ray),
      access(connection),
      {
        ...{ id: "cluster-nodes", area, status: alive.length > 0 ? "ok" : "error" },
        found: `${alive.length} nodes with ${all("cpus")} processors and ${all("gpus")} GPUs${dead > 0 ? `; ${dead} were lost` : ""}`,
        ...(alive.length > 0 ? {} : { fix: "start a node: ray start --address HEAD:6379" }),
      },
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
    return [{ id: "cluster", area, status: "error", found: message, fix }];
  }
}

function version(url: string, ray: string): Check {
  const found = `Ray ${ray} answers at ${url}`;
  if (tried.test(ray)) return { id: "cluster", area, status: "ok", found };
  const fix = "Ray 2.60 is what jobs were tried with; another may answer otherwise";
  return { id: "cluster", area, status: "warning", found, fix };
}

/** Who else may run programs there. */
function access(connection: RayConnection): Check {
  const id = "cluster-token";
  const { protocol, hostname } = new URL(connection.url);
  if (connection.headers().authorization === undefined) {
    const fix = "start it with a token: RAY_AUTH_MODE=token (ray get-auth-token --generate)";
    const found = "it asks for no token: whoever reaches it runs programs there";
    return { id, area, status: "warning", found, fix };
  }
  if (protocol === "http:" && !here.has(hostname)) {
    const fix = "a tunnel (ssh -L 8265:localhost:8265 HEAD), or a proxy that speaks TLS";
    const found = "the token, which is the whole cluster's key, travels in clear text";
    return { id, area, status: "warning", found, fix };
  }
  return { id, area, status: "ok", found: "the token is the cluster's" };
}
