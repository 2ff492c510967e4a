import {
  checkOptions,
  milliseconds,
  type OptionRules,
} from "../../common/options/check-options.js";
import { randomUUID } from "node:crypto";
import { Dealer, Subscriber } from "zeromq";
import { endpoint, Signer } from "../wire/connection.js";
import { decodeMessage, Encoder, type Json, type Message } from "../wire/message.js";
import { KernelProcess } from "./kernel-process.js";
import type { KernelSpec } from "./kernel-spec.js";

/** A message on iopub that belongs to a request. */
export interface IopubMessage {
  type: string;
  content: Json;
  metadata: Json;
  buffers: Uint8Array[];
}

/** Takes what a request shows, also what its timers show after it ended. */
type IopubListener = (message: IopubMessage) => void;

interface Request {
  listen: IopubListener;
  reply?: Json;
  idle: boolean;
  settle: () => void;
}

/** How to ask and how long to wait. */
export interface ExecuteOptions {
  listen?: IopubListener;
  /** The front end's id of the cell. */
  cellId?: string;
  storeHistory?: boolean;
}

const executeRules: OptionRules<ExecuteOptions> = {
  listen: "function?",
  cellId: "text?",
  storeHistory: "boolean?",
};

const settleTime = 30_000;

/**
 * A front end without a face: starts a kernel, runs code in it, interrupts it and ends it.
 *
 * @example
 * ```ts
 * import { KernelClient, ownKernel } from "arpo-lab/experimental/kernel";
 *
 * const sum = async () => {
 *   const kernel = await KernelClient.start(ownKernel(), { cwd: "." });
 *   const reply = await kernel.execute("1 + 1", { listen: ({ content }) => console.log(content) });
 *   await kernel.shutdown();
 *   return reply["status"];
 * };
 * ```
 */
export class KernelClient {
  readonly process: KernelProcess;
  /** What the kernel says of itself, and its language. */
  info: Json = {};
  readonly #signer: Signer;
  readonly #encoder: Encoder;
  readonly #shell = new Dealer({ linger: 0, sendHighWaterMark: 0, receiveHighWaterMark: 0 });
  readonly #control = new Dealer({ linger: 0 });
  readonly #iopub = new Subscriber({ linger: 0, receiveHighWaterMark: 0 });
  readonly #requests = new Map<string, Request>();
  #closing = false;
  #failure: Error | undefined;

  private constructor(kernel: KernelProcess) {
    this.process = kernel;
    const { connection } = kernel;
    this.#signer = new Signer(connection.key, connection.signature_scheme);
    this.#encoder = new Encoder(this.#signer);
    this.#shell.connect(endpoint(connection, connection.shell_port));
    this.#control.connect(endpoint(connection, connection.control_port));
    this.#iopub.connect(endpoint(connection, connection.iopub_port));
    this.#iopub.subscribe();
    void this.#receive(this.#shell, (m, parent) => this.#onReply(m, parent));
    void this.#receive(this.#control, (m, parent) => this.#onReply(m, parent));
    void this.#receive(this.#iopub, (m, parent) => this.#onIopub(m, parent));
    void kernel.death().then((error) => this.#fail(error, this.#closing));
  }

  /** Starts a kernel and waits until it answers and its output arrives. */
  static async start(
    spec: KernelSpec,
    options: { cwd: string; startupTimeout?: number },
  ): Promise<KernelClient> {
    checkOptions("start a kernel", options, { cwd: "path", startupTimeout: milliseconds });
    const client = new KernelClient(await KernelProcess.start(spec, options.cwd));
    try {
      await client.#handshake(options.startupTimeout ?? 60_000);
    } catch (error) {
      await client.kill();
      throw error;
    }
    return client;
  }

  async #handshake(limit: number): Promise<void> {
    const until = Date.now() + limit;
    // What a kernel publishes before we are subscribed is lost, so ask until both channels answer.
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      let heard = false;
      const listen = (): void => void (heard = true);
      const patience = Math.min(1000, until - Date.now());
      const reply = await this.#request(
        this.#shell,
        "kernel_info_request",
        {},
        { listen, patience },
      );
      if (reply !== undefined && heard) {
        this.info = reply;
        return;
      }
      if (Date.now() >= until) {
        throw new Error(
          `Cannot start kernel: ${this.process.spec.name} must answer within ${limit / 1000} s`,
        );
      }
    }
  }

  /** Runs code; resolves to the reply's content when its output is complete, rejects when it dies. */
  async execute(code: string, options: ExecuteOptions = {}): Promise<Json> {
    checkOptions("run code", options, executeRules);
    const content = {
      code,
      silent: false,
      store_history: options.storeHistory ?? true,
      user_expressions: {},
      allow_stdin: false,
      stop_on_error: true,
    };
    const metadata = options.cellId === undefined ? {} : { cellId: options.cellId };
    const reply = await this.#request(this.#shell, "execute_request", content, {
      listen: options.listen,
      metadata,
    });
    return reply ?? {};
  }

  /** Asks the running cell to stop. */
  async interrupt(): Promise<void> {
    if (this.process.spec.interrupt === "signal") this.process.signal("SIGINT");
    else await this.#request(this.#control, "interrupt_request", {}, { patience: 2000 });
  }

  /** Ends the kernel in order, by force after a few seconds. */
  async shutdown(): Promise<void> {
    this.#closing = true;
    if (this.process.alive) {
      await this.#request(
        this.#control,
        "shutdown_request",
        { restart: false },
        { patience: 3000 },
      );
      await Promise.race([
        this.process.ended,
        new Promise((late) => setTimeout(late, 2000).unref()),
      ]);
    }
    await this.kill();
  }

  /** Ends the kernel at once. */
  async kill(): Promise<void> {
    this.#closing = true;
    this.process.signal("SIGKILL");
    await this.process.ended;
    for (const socket of [this.#shell, this.#control, this.#iopub]) socket.close();
  }

  async #request(
    socket: Dealer,
    type: string,
    content: Json,
    options: { listen?: IopubListener; metadata?: Json; patience?: number },
  ): Promise<Json | undefined> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = randomUUID();
    const frames = this.#encoder.encode(
      { id, type, content, parent: undefined, metadata: options.metadata },
      [],
    );
    let timer: NodeJS.Timeout | undefined;
    const request: Request = {
      listen: options.listen ?? (() => undefined),
      idle: false,
      settle: () => undefined,
    };
    const settled = new Promise<void>((done) => {
      request.settle = done;
      if (options.patience !== undefined) timer = setTimeout(done, options.patience);
    });
    this.#requests.set(id, request);
    await socket.send(frames);
    await settled;
    clearTimeout(timer);
    if (this.#failure !== undefined && request.reply === undefined) throw this.#failure;
    if (options.listen === undefined) this.#requests.delete(id);
    return request.reply;
  }

  async #receive(
    socket: Dealer | Subscriber,
    take: (m: Message, parent: string) => void,
  ): Promise<void> {
    try {
      for await (const frames of socket) {
        const message = decodeMessage(frames, this.#signer);
        const parent = frames[message.identities.length + 3]!;
        take(message, String((JSON.parse(parent.toString()) as { msg_id?: unknown }).msg_id));
      }
    } catch (error) {
      if (!this.#closing) this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #onReply(message: Message, parent: string): void {
    const request = this.#requests.get(parent);
    if (request === undefined) return;
    request.reply = message.content;
    if (request.idle) request.settle();
    // Idle follows the reply closely; if it was lost, the cell's output may be incomplete but is over.
    else setTimeout(() => request.settle(), settleTime).unref();
  }

  #onIopub(message: Message, parent: string): void {
    const request = this.#requests.get(parent);
    if (request === undefined) return;
    const { content, metadata, buffers, header } = message;
    if (header.msg_type === "status" && content["execution_state"] === "idle") {
      request.idle = true;
      if (request.reply !== undefined) request.settle();
    }
    request.listen({ type: header.msg_type, content, metadata, buffers });
  }

  /** Ends all waiting: with the error, or quietly where the end was asked for. */
  #fail(error: Error, expected = false): void {
    if (!expected) this.#failure ??= error;
    for (const request of this.#requests.values()) request.settle();
  }
}
