// A front end for tests: every socket, every message, nothing hidden.
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { curveKeyPair, Dealer, Request, Subscriber } from "zeromq";
import { freePorts } from "../../kernel/client/kernel-process.js";
import { type Connection, endpoint, Signer } from "../../kernel/wire/connection.js";
import {
  decodeMessage,
  Encoder,
  type Header,
  type Json,
  type Message,
} from "../../kernel/wire/message.js";
import { until } from "../until.js";

export type Channel = "shell" | "control" | "stdin";

/** A message of the kernel, and where it came. */
export interface Received {
  channel: Channel | "iopub";
  message: Message;
}

/** What an execution gave. */
export interface Execution {
  id: string;
  reply: Json;
  /** Everything on iopub with this request as its parent, up to idle. */
  messages: Message[];
  /** stdout and stderr, joined. */
  text: string;
  result: Json | undefined;
  error: { ename: string; evalue: string; traceback: string[] } | undefined;
  /** From the request to the reply, in milliseconds. */
  ms: number;
}

export interface StartOptions {
  language?: "typescript" | "javascript";
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Ports and key of an earlier kernel. */
  connection?: Connection;
  /** The sockets are encrypted. */
  curve?: boolean;
  /** Another kernel's command line, for comparison. */
  argv?: string[];
}

/** In a cell: says at once that it has come here. Nothing else of the session is needed for it. */
export const begun =
  'Reflect.get(globalThis, Symbol.for("arpo-lab.kernel.host")).display({ "text/plain": "begun" });';

/** In a cell: says that it has come here, and waits until it is released. */
export const held = `await new Promise((go) => {
  Reflect.get(globalThis, Symbol.for("arpo-lab.kernel.host")).comms.register("go", function () {
    arguments[0].close();
    go(undefined);
  });
  ${begun}
});`;

const main = fileURLToPath(new URL("../../kernel/main.js", import.meta.url));

/** As Jupyter's clients use the pair: as the kernel's key and as their own. */
export const keysOf = ({ curve_publickey: key, curve_secretkey: secret }: Connection) =>
  key === undefined || secret === undefined
    ? {}
    : { curveServerKey: key, curvePublicKey: key, curveSecretKey: secret };

/** A running kernel and its five sockets. */
export class FrontEnd {
  readonly iopub: Message[] = [];
  readonly stdin: Message[] = [];
  /** Everything that came, on whatever channel. */
  readonly received: Received[] = [];
  /** The types of what was sent, by id. */
  readonly sent = new Map<string, string>();
  /** The ids of the requests that were answered. */
  readonly replies: string[] = [];
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  /** What the process itself wrote to its stderr. */
  log = "";
  readonly #signer: Signer;
  readonly #encoder: Encoder;
  readonly #sockets: Record<Channel, Dealer>;
  readonly #heart: Request;
  readonly #subscriber: Subscriber;
  /** The subshell that messages are sent to; undefined: the main shell. */
  subshell: string | undefined;
  readonly #replies = new Map<string, (message: Message) => void>();
  readonly #listeners = new Set<(message: Message) => void>();
  readonly #targets = new Set<string>();
  #asked = 0;

  private constructor(
    readonly process: ChildProcess,
    readonly connection: Connection,
    folder: string,
  ) {
    this.#signer = new Signer(connection.key);
    this.#encoder = new Encoder(this.#signer);
    const curve = keysOf(connection);
    this.#heart = new Request({ ...curve, linger: 0 });
    this.#subscriber = new Subscriber({ ...curve, linger: 0, receiveHighWaterMark: 0 });
    const routingId = randomUUID();
    const dealer = (): Dealer =>
      new Dealer({
        ...{ ...curve, linger: 0, routingId },
        ...{ sendHighWaterMark: 0, receiveHighWaterMark: 0 },
      });
    this.#sockets = { shell: dealer(), control: dealer(), stdin: dealer() };
    for (const channel of ["shell", "control", "stdin"] as const) {
      this.#sockets[channel].connect(endpoint(connection, connection[`${channel}_port`]));
      void this.#listen(channel);
    }
    this.#subscriber.connect(endpoint(connection, connection.iopub_port));
    this.#subscriber.subscribe();
    this.#heart.connect(endpoint(connection, connection.hb_port));
    void this.#listenIopub();
    process.stderr?.on("data", (chunk: Buffer) => (this.log += chunk.toString()));
    process.stdout?.on("data", (chunk: Buffer) => (this.log += chunk.toString()));
    this.exited = new Promise((resolve) => {
      process.once("exit", (code, signal) => {
        rmSync(folder, { recursive: true, force: true });
        resolve({ code, signal });
      });
    });
  }

  static async start(options: StartOptions = {}): Promise<FrontEnd> {
    const folder = mkdtempSync(join(tmpdir(), "arpo-front-end-"));
    const [shell, iopub, stdin, control, hb] = await freePorts(5);
    const { publicKey, secretKey } = curveKeyPair();
    const connection: Connection = options.connection ?? {
      ...(options.curve === true && { curve_publickey: publicKey, curve_secretkey: secretKey }),
      transport: "tcp",
      ip: "127.0.0.1",
      key: randomUUID(),
      signature_scheme: "hmac-sha256",
      shell_port: shell!,
      iopub_port: iopub!,
      stdin_port: stdin!,
      control_port: control!,
      hb_port: hb!,
    };
    const file = join(folder, "connection.json");
    writeFileSync(file, JSON.stringify(connection));
    const { language = "typescript" } = options;
    const argv = options.argv ?? [process.execPath, main, "{connection_file}", language];
    const [command, ...args] = argv.map((a) => a.replaceAll("{connection_file}", file));
    const child = spawn(command!, args, {
      cwd: options.cwd ?? folder,
      env: { ...process.env, ARPO_LAB_DATA: "", ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const frontEnd = new FrontEnd(child, connection, folder);
    await frontEnd.#ready();
    return frontEnd;
  }

  /** Lets go of the messages that came, for tests that run many cells. */
  forget(): void {
    for (const list of [this.iopub, this.received, this.replies]) list.length = 0;
    this.sent.clear();
  }

  /** Output published before we are subscribed is lost: ask until an idle comes back. */
  async #ready(): Promise<void> {
    for (let heard = false; !heard;) {
      if (this.process.exitCode !== null) throw new Error(`the kernel ended: ${this.log}`);
      const { id, answer } = this.#send("shell", "kernel_info_request", {});
      await answer;
      for (let i = 0; i < 20 && !heard; i++) {
        heard = this.iopub.some((m) => m.parent.msg_id === id);
        if (!heard) await new Promise((r) => setTimeout(r, 5));
      }
    }
    this.iopub.length = 0;
  }

  /** Sends a request; resolves to its reply. */
  async request(channel: Channel, type: string, content: Json = {}): Promise<Message> {
    return this.#send(channel, type, content).answer;
  }

  /** Sends and does not wait; the id is the message's. */
  send(channel: Channel, type: string, content: Json = {}, buffers: Uint8Array[] = []): string {
    return this.#send(channel, type, content, buffers).id;
  }

  /** Sends frames as they are. */
  async raw(channel: Channel, frames: (Uint8Array | string)[]): Promise<void> {
    await this.#sockets[channel].send(frames as Buffer[]);
  }

  /** Signed frames with a header of your own making. */
  frames(parts: Json[], sign = true): Uint8Array[] {
    const json = parts.map((part) => Buffer.from(JSON.stringify(part)));
    const signature = sign ? this.#signer.sign(json) : "0".repeat(64);
    return [Buffer.from("<IDS|MSG>"), Buffer.from(signature), ...json];
  }

  /** Runs a cell to its idle. */
  async execute(code: string, options: Json = {}, metadata: Json = {}): Promise<Execution> {
    const { finished } = this.start(code, options, metadata);
    return finished;
  }

  /** The same without waiting: what has been shown so far is in `messages`. */
  start(
    code: string,
    options: Json = {},
    metadata: Json = {},
  ): {
    id: string;
    messages: Message[];
    /** Milliseconds to the reply. */
    replied: Promise<number>;
    finished: Promise<Execution>;
  } {
    const content: Json = {
      code,
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: false,
      stop_on_error: true,
      ...options,
    };
    const since = performance.now();
    const messages: Message[] = [];
    let ms = 0;
    let id = "";
    const idle = new Promise<void>((resolve) => {
      const listener = (message: Message): void => {
        if (message.parent.msg_id !== id) return;
        messages.push(message);
        if (isState(message, "idle")) {
          this.#listeners.delete(listener);
          resolve();
        }
      };
      this.#listeners.add(listener);
    });
    const sent = this.#send("shell", "execute_request", content, [], undefined, metadata);
    id = sent.id;
    const replied = sent.answer.then((reply) => {
      ms = performance.now() - since;
      return reply;
    });
    const died = this.exited.then(({ code: status, signal }) => {
      throw new Error(`the kernel ended with ${status ?? signal}: ${this.log}`);
    });
    const both = Promise.all([replied, idle]);
    const finished = Promise.race([both, died]).then(([reply]) =>
      summary(id, reply.content, messages, ms),
    );
    return { id, messages, replied: replied.then(() => ms), finished };
  }

  /** Resolves to the first iopub message, past or future, that matches. */
  async shown(matches: (message: Message) => boolean, timeout = 60_000): Promise<Message> {
    const found = this.iopub.find(matches);
    if (found !== undefined) return found;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("no such message came")), timeout);
      const listener = (message: Message): void => {
        if (!matches(message)) return;
        clearTimeout(timer);
        this.#listeners.delete(listener);
        resolve(message);
      };
      this.#listeners.add(listener);
    });
  }

  /** Asks over a comm of this target, which is opened the first time; gives the answer's data. */
  async ask(target: string, question: Json): Promise<Json> {
    const ask = ++this.#asked;
    if (!this.#targets.has(target)) {
      this.send("shell", "comm_open", { comm_id: target, target_name: target, data: {} });
      this.#targets.add(target);
    }
    this.send("shell", "comm_msg", { comm_id: target, data: { ...question, ask } });
    const said = await this.shown(
      ({ header, content }) =>
        header.msg_type === "comm_msg" &&
        content["comm_id"] === target &&
        (content["data"] as Json)["ask"] === ask,
    );
    return said.content["data"] as Json;
  }

  /** Waits until a cell has come to its `begun`. */
  async begun(id: string): Promise<void> {
    await this.shown(
      ({ parent, content }) =>
        parent.msg_id === id && (content["data"] as Json | undefined)?.["text/plain"] === "begun",
    );
  }

  /** Lets a cell go on that is held. */
  release(): void {
    this.send("shell", "comm_open", { comm_id: randomUUID(), target_name: "go", data: {} });
  }

  /** Waits for the kernel to ask for input, and answers. */
  async answerInput(value: string): Promise<Message> {
    const question = await this.question();
    this.#send("stdin", "input_reply", { value });
    return question;
  }

  /** The next question of a cell. */
  async question(): Promise<Message> {
    await until(() => this.stdin.length > 0, "a question of the cell");
    return this.stdin.shift()!;
  }

  /** Answers a question by its name, as JupyterLab does. */
  answerTo(question: Message, value: string): void {
    this.#send("stdin", "input_reply", { value }, [], question.header);
  }

  /** Milliseconds for a heartbeat to come back. */
  async beat(): Promise<number> {
    const since = performance.now();
    await this.#heart.send("beat");
    await this.#heart.receive();
    return performance.now() - since;
  }

  /** Shuts the kernel down; by force if it does not. */
  async close(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.send("control", "shutdown_request", { restart: false });
      const timer = setTimeout(() => this.process.kill("SIGKILL"), 3000);
      await this.exited;
      clearTimeout(timer);
    }
    this.#subscriber.close();
    this.#heart.close();
    for (const socket of Object.values(this.#sockets)) socket.close();
  }

  #send(
    channel: Channel,
    type: string,
    content: Json,
    buffers: Uint8Array[] = [],
    parent: Header | undefined = undefined,
    metadata: Json = {},
  ): { id: string; answer: Promise<Message> } {
    const frames = this.#encoder.encode({ type, content, parent, buffers, metadata }, []);
    if (this.subshell !== undefined) {
      const header = JSON.parse(Buffer.from(frames[2]!).toString()) as Header;
      frames[2] = Buffer.from(JSON.stringify({ ...header, subshell_id: this.subshell }));
      frames[1] = Buffer.from(this.#signer.sign(frames.slice(2, 6)));
    }
    const { msg_id: id } = JSON.parse(Buffer.from(frames[2]!).toString()) as { msg_id: string };
    this.sent.set(id, type);
    const answer = new Promise<Message>((resolve) => this.#replies.set(id, resolve));
    void this.#sockets[channel].send(frames as Buffer[]);
    return { id, answer };
  }

  async #listen(channel: Channel): Promise<void> {
    for await (const frames of this.#sockets[channel]) {
      const message = decodeMessage(frames, this.#signer);
      this.received.push({ channel, message });
      if (message.header.msg_type === "input_request") this.stdin.push(message);
      const id = message.parent.msg_id ?? "";
      this.replies.push(id);
      this.#replies.get(id)?.(message);
      this.#replies.delete(id);
    }
  }

  async #listenIopub(): Promise<void> {
    for await (const frames of this.#subscriber) {
      const message = decodeMessage(frames, this.#signer);
      this.received.push({ channel: "iopub", message });
      this.iopub.push(message);
      for (const listener of this.#listeners) listener(message);
    }
  }
}

/** True for a status message with this state. */
export function isState(message: Message, state: string): boolean {
  return message.header.msg_type === "status" && message.content.execution_state === state;
}

function summary(id: string, reply: Json, messages: Message[], ms: number): Execution {
  const of = (type: string): Message[] => messages.filter((m) => m.header.msg_type === type);
  return {
    id,
    reply,
    messages,
    text: of("stream")
      .map((m) => m.content.text as string)
      .join(""),
    result: of("execute_result")[0]?.content.data as Json | undefined,
    error: of("error")[0]?.content as unknown as Execution["error"],
    ms,
  };
}
