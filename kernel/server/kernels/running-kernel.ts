import { utf8Bytes, utf8Text } from "#platform/bytes";
import { later } from "#platform/process";
import { randomUUID } from "#platform/uuid";
import type { KernelSpec } from "../../client/kernel-spec.js";
import { PROTOCOL_VERSION } from "../../wire/message.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { Frames } from "./codec.js";
import { Executions } from "./executions.js";
import type { Launch, Launched } from "./launched.js";
import type { Listener } from "./listener.js";

/** A kernel as the API shows it. */
export interface KernelModel {
  id: string;
  name: string;
  last_activity: string;
  execution_state: string;
  connections: number;
}

const json = (value: unknown): Uint8Array => utf8Bytes(JSON.stringify(value));
const delay = async (ms: number): Promise<void> =>
  await new Promise<void>((done) => later(done, ms));

/** How often in a row a kernel that dies young is started again. */
const maxDeaths = 3;
const youth = 10_000;
/** How many requests of a kernel are remembered to know whom an answer is for. */
const maxRequests = 10_000;

/** A kernel that keeps its id, its listeners and its place while its process comes and goes. */
export class RunningKernel {
  readonly id = randomUUID();
  readonly spec: KernelSpec;
  readonly listeners = new Set<Listener>();
  readonly executions: Executions;
  lastActivity = new Date();
  #state = "starting";
  readonly #folder: string;
  readonly #requests = new Map<string, Listener>();
  readonly #launch: Launch;
  #kernel: Launched | undefined;
  #born = 0;
  #deaths = 0;
  #wanted = true;
  /** Starts and restarts, one after the other. */
  #turn: Promise<void> = Promise.resolve();

  /** The name under which its process sends messages. */
  #session = "";

  /** `keep`: about how many bytes of a running cell's output are kept for pages that come later. */
  constructor(spec: KernelSpec, folder: string, launch: Launch, keep = 64 << 20) {
    this.#launch = launch;
    this.spec = spec;
    this.executions = new Executions(keep);
    this.#folder = folder;
  }

  get model(): KernelModel {
    return {
      id: this.id,
      name: this.spec.name,
      last_activity: this.lastActivity.toISOString(),
      execution_state: this.#state,
      connections: [...this.listeners].filter((l) => l.connected).length,
    };
  }

  async start(): Promise<void> {
    this.#state = "starting";
    const receive = (frames: Frames): void => this.#onMessage(frames);
    const kernel = await this.#launch(this.spec, this.#folder, receive);
    this.#kernel = kernel;
    this.#born = Date.now();
    void kernel.ended.then(() => this.#onEnd(kernel));
  }

  #onMessage(frames: Frames): void {
    this.lastActivity = new Date();
    const parent = JSON.parse(utf8Text(frames.parent)) as { msg_id?: string };
    const header = JSON.parse(utf8Text(frames.header)) as {
      msg_type?: string;
      session?: string;
    };
    this.#session = header.session ?? "";
    this.executions.said(parent.msg_id ?? "", header.msg_type ?? "", frames);
    if (frames.channel === "iopub") {
      if (header.msg_type === "status") {
        const { execution_state } = JSON.parse(utf8Text(frames.content)) as {
          execution_state?: string;
        };
        this.#state = execution_state ?? this.#state;
      }
      for (const listener of this.listeners) listener.receive(frames);
      return;
    }
    const listener = this.#requests.get(parent.msg_id ?? "");
    if (listener !== undefined && this.listeners.has(listener)) listener.receive(frames);
  }

  /** Tells everybody of a state that the kernel cannot tell of itself. */
  #announce(state: string): void {
    this.#state = state;
    const header = {
      msg_id: randomUUID(),
      msg_type: "status",
      session: this.id,
      username: "server",
      date: new Date().toISOString(),
      version: PROTOCOL_VERSION,
    };
    const frames: Frames = {
      channel: "iopub",
      header: json(header),
      parent: json({}),
      metadata: json({}),
      content: json({ execution_state: state }),
      buffers: [],
    };
    for (const listener of this.listeners) listener.receive(frames);
  }

  #onEnd(kernel: Launched): void {
    if (kernel !== this.#kernel || !this.#wanted) return;
    this.executions.died();
    // What is sent meanwhile goes nowhere.
    kernel.close();
    this.#deaths = Date.now() - this.#born < youth ? this.#deaths + 1 : 0;
    if (this.#deaths >= maxDeaths) {
      this.#announce("dead");
      return;
    }
    this.#announce("restarting");
    this.#turn = this.#turn.then(() => this.start()).catch(() => this.#announce("dead"));
  }

  /** Sends what a listener asks; the answer goes to it alone. */
  async send(frames: Frames, from: Listener): Promise<void> {
    this.lastActivity = new Date();
    const header = JSON.parse(utf8Text(frames.header)) as {
      msg_id: string;
      msg_type: string;
    };
    if (frames.channel === "stdin") this.executions.answered();
    else this.executions.requested(header, frames, from);
    this.#expect(header.msg_id, from);
    await this.#turn;
    await this.#kernel?.send(frames);
  }

  /** Answers to a request go to this listener from now on. */
  #expect(request: string, listener: Listener): void {
    this.#requests.set(request, listener);
    if (this.#requests.size > maxRequests) {
      const [oldest] = this.#requests.keys();
      this.#requests.delete(oldest!);
    }
  }

  /** Sends a listener what cells of this kernel put out before it came; says how many cells'. */
  resume(listener: Listener): number {
    const missing = this.executions.missing(listener);
    for (const id of missing) this.#expect(id, listener);
    for (const frames of this.executions.replay(listener, this.#session)) listener.receive(frames);
    return missing.length;
  }

  /** A listener will not come back. */
  forget(listener: Listener): void {
    this.listeners.delete(listener);
    this.executions.left(listener);
  }

  async interrupt(): Promise<void> {
    if (this.#kernel?.alive !== true) {
      throw new ErrorResponse(409, `Cannot interrupt kernel ${this.id}: it is ${this.#state}`);
    }
    if (this.spec.interrupt === "signal") this.#kernel.signal("SIGINT");
    else await this.#kernel.ask("control", "interrupt_request", {});
  }

  async #end(): Promise<void> {
    const kernel = this.#kernel;
    this.executions.died();
    this.#kernel = undefined;
    if (kernel?.alive === true) {
      await kernel.ask("control", "shutdown_request", { restart: false });
      await Promise.race([kernel.ended, delay(2000)]);
      kernel.signal("SIGKILL");
      await kernel.ended;
    }
    kernel?.close();
  }

  /** A new process under the same id; whoever asked knows, so `restarting` is not announced. */
  async restart(): Promise<void> {
    this.#deaths = 0;
    this.#turn = this.#turn.then(async () => {
      await this.#end();
      await this.start();
    });
    await this.#turn;
  }

  /** Ends the kernel, in order if it can be, and everybody's connection to it. */
  async shutdown(): Promise<void> {
    this.#wanted = false;
    await this.#turn.catch(() => undefined); // a start that failed left nothing to end
    await this.#end();
    this.#state = "dead";
    for (const listener of this.listeners) listener.close();
    this.listeners.clear();
  }
}
