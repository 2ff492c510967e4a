// A Ray cluster on loopback, whose nodes a test loses one by one.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { cluster, type Cluster } from "../../src/interop/job/cluster.js";
import { pause } from "../../src/base/http/pause.js";
import { freePort } from "../free-port.js";
import { until } from "../until.js";

const starter = fileURLToPath(new URL("../../../tests/python/start_ray.py", import.meta.url));
const python = process.env.ARPO_LAB_PYTHON ?? "python3";

/** Why there is no cluster to try. */
export const rayMissing =
  process.env.ARPO_LAB_RAY !== "1"
    ? "a cluster of two nodes wants the machine for itself: ARPO_LAB_RAY=1 starts it"
    : spawnSync(python, ["-c", "import ray, aiohttp"]).status === 0
      ? false
      : `${python} has no ray[default]`;

/** A process and all that it has started, by Linux's own list. */
function family(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const found = [root];
  for (const pid of found) {
    for (const [child, parent] of parents) if (parent === pid) found.push(child);
  }
  return found;
}

/**
 * One node: its processes live and die together. One that does not come up is started again: Ray's node waits 15 s
 * for the ports of its agents, a number in its program, and then aborts, which a busy machine makes it do.
 */
export class RayNodeProcess {
  #child: ChildProcess;
  #killed = false;

  constructor(launch: () => ChildProcess, tries = 5) {
    const start = (left: number): ChildProcess => {
      const child = launch();
      child.once("exit", () => {
        if (!this.#killed && left > 1) this.#child = start(left - 1);
      });
      return child;
    };
    this.#child = start(tries);
  }

  /** Gone at once, as a machine that lost its power. */
  kill(): void {
    this.#killed = true;
    if (this.#child.pid === undefined) return;
    for (const pid of family(this.#child.pid)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
  }
}

/** Starts nodes of one cluster. */
export class RayMachines {
  address = "";
  readonly #env: NodeJS.ProcessEnv;
  readonly #nodes: RayNodeProcess[] = [];
  #gcs = 0;

  private constructor(
    private readonly folder: string,
    token: string,
    private readonly nodes: { python: string; env?: Record<string, string> },
  ) {
    this.#env = {
      ...process.env,
      ...nodes.env,
      ...{ RAY_AUTH_MODE: "token", RAY_AUTH_TOKEN: token, RAY_USAGE_STATS_ENABLED: "0" },
      // Workers that nobody has asked for yet would take the processor from what starts.
      ...{ RAY_enable_worker_prestart: "0", RAY_DASHBOARD_STARTUP_TIMEOUT_S: "600" },
    };
  }

  /** Nodes of one Python, which find more in their environment where it is said. */
  static async make(
    t: Pick<TestContext, "after">,
    token: string,
    nodes: { python: string; env?: Record<string, string> } = { python },
  ): Promise<RayMachines> {
    // Ray's sockets lie below it, and a socket's path is short.
    const folder = await mkdtemp("/tmp/ray-");
    const machines = new RayMachines(folder, token, nodes);
    t.after(async () => {
      for (const node of machines.#nodes) node.kill();
      machines.#sweep();
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    });
    return machines;
  }

  /** Starts a head, on the same ports where there was one before. */
  async head(cpus: number, gpus = 0): Promise<RayNodeProcess> {
    this.#gcs ||= await freePort();
    const port = this.address ? new URL(this.address).port : String(await freePort());
    this.address = `http://127.0.0.1:${port}`;
    const temp = await mkdtemp(join(this.folder, "h"));
    return this.#start(
      ["--head", "--port", String(this.#gcs), "--dashboard-port", port, "--temp-dir", temp],
      cpus,
      gpus,
    );
  }

  /** Starts a further node. */
  async worker(cpus: number): Promise<RayNodeProcess> {
    return this.#start(["--address", `127.0.0.1:${this.#gcs}`], cpus);
  }

  /** Connects once the cluster has so many nodes. */
  async ready(nodes: number, jobs: string): Promise<Cluster> {
    return until(
      async () => {
        // A cluster that starts needs the processor itself.
        await pause(1000);
        const there = await cluster(this.address, { jobs }).catch(() => undefined);
        const found = await there?.nodes().catch(() => []);
        return (found ?? []).filter(({ alive }) => alive).length >= nodes ? there : undefined;
      },
      `a Ray cluster of ${nodes} nodes`,
      900_000,
    ).catch((error: unknown) => {
      const said = readFileSync(join(this.folder, "nodes.log"), "utf8");
      throw new Error(`${String(error)}; the nodes said: ${said}`);
    });
  }

  /** What outlived its node: every process of Ray that names this cluster's folder. */
  #sweep(): void {
    for (const name of readdirSync("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
        if (command.includes(this.folder)) process.kill(Number(name), "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  async #start(args: string[], cpus: number, gpus = 0): Promise<RayNodeProcess> {
    const counted = ["--num-cpus", String(cpus), "--num-gpus", String(gpus)];
    const own = ["--node-ip-address", "127.0.0.1", ...counted];
    const memory = ["--object-store-memory", "80000000", "--disable-usage-stats", "--block"];
    const command = [starter, "start", ...args, ...own, ...memory];
    const launch = (): ChildProcess => {
      const log = openSync(join(this.folder, "nodes.log"), "a");
      const stdio = ["ignore", log, log] as const;
      const child = spawn(this.nodes.python, command, {
        env: this.#env,
        stdio: [...stdio],
        cwd: this.folder,
      });
      closeSync(log);
      return child;
    };
    const node = new RayNodeProcess(launch);
    this.#nodes.push(node);
    return Promise.resolve(node);
  }
}
