import { joinBytes, utf8Text } from "#platform/bytes";
import { system } from "#platform/machine";
import { type ChildProcess, endGroup, spawn } from "#platform/programs";
import type { ChildReply, ChildRequest } from "./protocol.js";

/** How a worker process is started. */
export interface ChildCommand {
  file: string;
  args: string[];
  env: Record<string, string>;
}

/** The worker process ended while it had work, or would not start. */
export class WorkerDied extends Error {
  override name = "WorkerDied";
}

/**
 * One worker process that answers one request at a time over its standard streams. Internal to the
 * Python tools.
 */
export class PythonChild {
  readonly ready: Promise<void>;
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;
  #pending: { resolve(reply: ChildReply): void; reject(error: Error): void } | undefined;
  #buffered: Uint8Array[] = [];
  #errors = "";
  #alive = true;
  #id = 0;

  constructor(command: ChildCommand) {
    this.#process = spawn(command.file, command.args, {
      env: command.env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: system !== "win32",
    });
    this.#process.unref();
    this.#process.stdin!.on("error", () => undefined); // Told by the exit, below.
    this.#process.stderr!.on("data", (data: Buffer) => {
      this.#errors = (this.#errors + data.toString()).slice(-2000);
    });
    this.#process.stdout!.on("data", (data: Buffer) => {
      this.#receive(data);
    });
    this.#exited = new Promise((resolve) => {
      const end = (why: string) => {
        this.#alive = false;
        this.#pending?.reject(
          new WorkerDied(`the worker ended: ${why} ${this.#errors.slice(-300)}`.trim()),
        );
        this.#pending = undefined;
        resolve();
      };
      this.#process.once("error", (error) => {
        end(error.message);
      });
      this.#process.once("close", (code, signal) => {
        end(signal ?? `status ${code}`);
      });
    });
    this.ready = new Promise<ChildReply>((resolve, reject) => {
      this.#pending = { resolve, reject };
    }).then(() => undefined);
    this.ready.catch(() => undefined); // The pool awaits it when it needs this worker.
    this.#hold(true);
  }

  get alive(): boolean {
    return this.#alive;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Sends a request; rejects with `WorkerDied` when the process ends first. */
  async ask(request: Omit<ChildRequest, "id">): Promise<ChildReply> {
    await this.ready;
    if (!this.#alive) throw new WorkerDied("the worker has ended");
    this.#hold(true);
    const id = ++this.#id;
    const reply = await new Promise<ChildReply>((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#process.stdin!.write(`${JSON.stringify({ id, ...request })}\n`);
    });
    if (reply.fatal !== undefined) throw new WorkerDied(`the interpreter broke: ${reply.fatal}`);
    if (reply.id !== id) {
      this.kill();
      throw new WorkerDied("the worker answered something else than it was asked");
    }
    return reply;
  }

  /** Ends the process and everything it may have started. */
  kill(): void {
    this.#alive = false;
    try {
      if (this.#process.pid !== undefined && system !== "win32") {
        endGroup(this.#process.pid);
      }
    } catch {
      // The group is gone already; the line below covers a process that never led one.
    }
    this.#process.kill("SIGKILL");
  }

  async killed(): Promise<void> {
    this.#hold(true);
    this.kill();
    await this.#exited;
  }

  /** While it works it keeps this program alive; while it waits it does not. */
  #hold(busy: boolean): void {
    for (const stream of [this.#process.stdout, this.#process.stderr, this.#process.stdin]) {
      const handle = stream as unknown as { ref?(): void; unref?(): void };
      if (busy) handle.ref?.();
      else handle.unref?.();
    }
    if (busy) this.#process.ref();
    else this.#process.unref();
  }

  #receive(data: Uint8Array): void {
    const end = data.indexOf(10);
    if (end < 0) {
      this.#buffered.push(data);
      return;
    }
    const line = utf8Text(joinBytes([...this.#buffered, data.subarray(0, end)]));
    this.#buffered = end + 1 < data.length ? [data.subarray(end + 1)] : [];
    const pending = this.#pending;
    this.#pending = undefined;
    this.#hold(false);
    try {
      pending?.resolve(JSON.parse(line) as ChildReply);
    } catch {
      pending?.reject(new WorkerDied(`the worker wrote ${JSON.stringify(line.slice(0, 200))}`));
      this.kill();
    }
  }
}
