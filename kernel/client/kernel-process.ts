import { type Connection, KERNEL_FOLDER } from "../wire/connection.js";
import type { KernelSpec } from "./kernel-spec.js";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Ports of this machine that nobody listens at, all different. Another program may take one before its user does:
 * listen at port 0 instead wherever the program that listens can be asked for its port.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  try {
    return await Promise.all(
      servers.map(
        (server) =>
          new Promise<number>((found, failed) => {
            server.once("error", failed);
            server.listen(0, "127.0.0.1", () => found((server.address() as AddressInfo).port));
          }),
      ),
    );
  } finally {
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  }
}

/**
 * The kernel's process ended although nobody asked it to.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { KernelClient, KernelDiedError, ownKernel } from "arpo-lab/experimental/kernel";
 *
 * const kernel = await KernelClient.start(ownKernel(), { cwd: "." });
 * const running = kernel.execute("for (;;) {}");
 * kernel.process.signal("SIGKILL");
 * await assert.rejects(running, KernelDiedError);
 * await kernel.kill();
 * ```
 */
export class KernelDiedError extends Error {
  override name = "KernelDiedError";
}

async function newConnection(folder: string, transport: "ipc" | "tcp"): Promise<Connection> {
  // Unix sockets: no port to lose to another program between choosing and binding it.
  const ipc = transport === "ipc" && process.platform !== "win32" && folder.length < 80;
  const ports = ipc ? [1, 2, 3, 4, 5] : await freePorts(5);
  return {
    transport: ipc ? "ipc" : "tcp",
    ip: ipc ? join(folder, "kernel") : "127.0.0.1",
    key: randomBytes(32).toString("hex"),
    signature_scheme: "hmac-sha256",
    shell_port: ports[0]!,
    iopub_port: ports[1]!,
    stdin_port: ports[2]!,
    control_port: ports[3]!,
    hb_port: ports[4]!,
  };
}

/** As Jupyter has it: `${NAME}` is that variable of the environment, and stays where there is none. */
function filledIn(env: Record<string, string>): Record<string, string> {
  const fill = (value: string): string =>
    value.replace(/\$\{(\w+)\}/g, (found, name: string) => process.env[name] ?? found);
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]));
}

/** A kernel's process with its connection file; gone with its folder when it ends. */
export class KernelProcess {
  readonly connection: Connection;
  readonly spec: KernelSpec;
  /** Resolves to how it ended, whoever ended it. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #tail = "";

  private constructor(
    spec: KernelSpec,
    connection: Connection,
    folder: string,
    child: ChildProcess,
  ) {
    this.spec = spec;
    this.connection = connection;
    this.#child = child;
    const keep = (chunk: Buffer): void => {
      this.#tail = (this.#tail + chunk.toString()).slice(-4000);
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    this.ended = new Promise((done) => {
      const end = (how: string): void => {
        rmSync(folder, { recursive: true, force: true });
        done(how);
      };
      child.once("error", (error) => end(`could not be started: ${error.message}`));
      child.once("close", (code, signal) => {
        end(signal === null ? `ended with code ${code}` : `was killed by ${signal}`);
      });
    });
  }

  /** Starts the kernel in a folder. */
  static async start(spec: KernelSpec, cwd: string): Promise<KernelProcess> {
    const folder = mkdtempSync(join(tmpdir(), KERNEL_FOLDER));
    try {
      const connection = await newConnection(folder, spec.transport);
      const file = join(folder, "connection.json");
      writeFileSync(file, JSON.stringify({ ...connection, kernel_name: spec.name }), {
        mode: 0o600,
      });
      const [command = "", ...args] = spec.argv.map((a) => a.replaceAll("{connection_file}", file));
      const child = spawn(command, args, {
        cwd,
        // A process group of its own: Ctrl-C in the terminal reaches us, and we interrupt the kernel.
        detached: process.platform !== "win32",
        env: { ...process.env, ...filledIn(spec.env), JPY_PARENT_PID: String(process.pid) },
        stdio: ["ignore", "pipe", "pipe"],
      });
      return new KernelProcess(spec, connection, folder, child);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** The last that the process wrote on its own streams, for messages about its death. */
  get lastWords(): string {
    return this.#tail.trim();
  }

  /** True until it ended. */
  get alive(): boolean {
    return (
      this.#child.exitCode === null &&
      this.#child.signalCode === null &&
      this.#child.pid !== undefined
    );
  }

  /** Sends a signal; to the whole group where there is one and it is to be killed. */
  signal(name: "SIGINT" | "SIGKILL"): void {
    const { pid } = this.#child;
    if (pid === undefined || !this.alive) return;
    try {
      process.kill(name === "SIGKILL" && process.platform !== "win32" ? -pid : pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it just ended
    }
  }

  /** The error to fail with when it ended in the middle of something. */
  async death(): Promise<KernelDiedError> {
    const how = await this.ended;
    const words = this.lastWords === "" ? "" : `; it last wrote:\n${this.lastWords}`;
    return new KernelDiedError(`The kernel ${this.spec.name} ${how}${words}`);
  }
}
