import { KernelProcess } from "../../client/kernel-process.js";
import { endpoint, Signer } from "../../wire/connection.js";
import { Encoder } from "../../wire/message.js";
import type { Channel, Frames } from "./codec.js";
import type { Launch } from "./launched.js";
import { randomUUID } from "node:crypto";
import { Dealer, Subscriber } from "zeromq";

const delimiter = Buffer.from("<IDS|MSG>");

/** Takes a message of the kernel. */
type Receive = (frames: Frames) => void;

/**
 * The sockets to one kernel process. Messages go through unparsed, but signed and checked. What is sent
 * before the kernel's output arrives here waits until it does, so that none of it is lost.
 */
class KernelConnection {
  readonly #shell: Dealer;
  readonly #control: Dealer;
  readonly #stdin: Dealer;
  readonly #iopub = new Subscriber({ linger: 0, receiveHighWaterMark: 0 });
  readonly #signer: Signer;
  readonly #encoder: Encoder;
  readonly #receive: Receive;
  readonly #sends = new Map<Channel, Promise<void>>();
  #heard: () => void = () => undefined;
  readonly #ready: Promise<void>;
  #isReady = false;
  #closed = false;

  constructor(kernel: KernelProcess, receive: Receive) {
    const { connection } = kernel;
    // A kernel asks for input under the name that the request came from.
    const routingId = randomUUID();
    const options = { linger: 0, sendHighWaterMark: 0, receiveHighWaterMark: 0, routingId };
    this.#shell = new Dealer(options);
    this.#control = new Dealer(options);
    this.#stdin = new Dealer(options);
    this.#signer = new Signer(connection.key, connection.signature_scheme);
    this.#encoder = new Encoder(this.#signer);
    this.#receive = receive;
    this.#shell.connect(endpoint(connection, connection.shell_port));
    this.#control.connect(endpoint(connection, connection.control_port));
    this.#stdin.connect(endpoint(connection, connection.stdin_port));
    this.#iopub.connect(endpoint(connection, connection.iopub_port));
    this.#iopub.subscribe();
    this.#ready = new Promise((done) => (this.#heard = done));
    void this.#listen("shell", this.#shell);
    void this.#listen("control", this.#control);
    void this.#listen("stdin", this.#stdin);
    void this.#listen("iopub", this.#iopub);
    void this.#knock();
  }

  /** True when the kernel's output arrives here. */
  get ready(): boolean {
    return this.#isReady;
  }

  /**
   * What a kernel publishes before we are subscribed is lost: ask until something is heard. What is
   * heard first may only be the welcome, and the kernel's state lost before it, so ask once more then.
   */
  async #knock(): Promise<void> {
    for (let heard = false; !heard && !this.#closed;) {
      heard = this.#isReady;
      const message = { type: "kernel_info_request", content: {}, parent: undefined };
      await this.#shell.send(this.#encoder.encode(message, [])).catch(() => undefined);
      if (!heard) await Promise.race([this.#ready, new Promise((later) => setTimeout(later, 300))]);
    }
  }

  async #listen(channel: Channel, socket: Dealer | Subscriber): Promise<void> {
    try {
      for await (const frames of socket) {
        const message = this.#check(channel, frames);
        if (message === undefined) continue;
        if (channel === "iopub" && !this.#isReady) {
          this.#isReady = true;
          this.#heard();
        }
        try {
          this.#receive(message);
        } catch (error) {
          // A signed message that is not JSON: the kernel's fault, which must not end the server.
          if (!(error instanceof SyntaxError)) throw error;
        }
      }
    } catch (error) {
      if (!this.#closed) throw error;
    }
  }

  /** The parts of a message; undefined where it is not signed with the connection's key. */
  #check(channel: Channel, frames: Buffer[]): Frames | undefined {
    const at = frames.findIndex((frame) => delimiter.equals(frame));
    const [signature, header, parent, metadata, content, ...buffers] = frames.slice(at + 1);
    if (at < 0 || signature === undefined || content === undefined) return undefined;
    const parts = [header!, parent!, metadata!, content];
    if (!this.#signer.verify(signature, parts)) return undefined;
    return { channel, header: header!, parent: parent!, metadata: metadata!, content, buffers };
  }

  /** Sends a front end's message; in order by channel. */
  async send(frames: Frames): Promise<void> {
    const { channel, header, parent, metadata, content, buffers } = frames;
    if (channel === "iopub") return; // nothing goes that way
    const socket = { shell: this.#shell, control: this.#control, stdin: this.#stdin }[channel];
    const parts = [header, parent, metadata, content];
    const sign = (): Buffer => Buffer.from(this.#signer.sign(parts));
    const before = this.#sends.get(channel) ?? this.#ready;
    const sent = before.then(async () => {
      if (!this.#closed) await socket.send([delimiter, sign(), ...parts, ...buffers]);
    });
    this.#sends.set(
      channel,
      sent.catch(() => undefined), // the sender is told; what comes after still goes
    );
    await sent;
  }

  /** Sends a request of our own. Its answer is given to nobody. */
  async ask(
    channel: "shell" | "control",
    type: string,
    content: Record<string, unknown>,
  ): Promise<void> {
    const socket = channel === "shell" ? this.#shell : this.#control;
    await socket.send(this.#encoder.encode({ type, content, parent: undefined }, []));
  }

  close(): void {
    this.#closed = true;
    for (const socket of [this.#shell, this.#control, this.#stdin, this.#iopub]) socket.close();
  }
}

/** A kernel as a process of its own, reached by its sockets. */
export const launchProcess: Launch = async (spec, folder, receive) => {
  const kernel = await KernelProcess.start(spec, folder);
  const connection = new KernelConnection(kernel, receive);
  return {
    get alive() {
      return kernel.alive;
    },
    ended: kernel.ended,
    signal: (name) => kernel.signal(name),
    send: (frames) => connection.send(frames),
    ask: (channel, type, content) => connection.ask(channel, type, content),
    close: () => connection.close(),
  };
};
