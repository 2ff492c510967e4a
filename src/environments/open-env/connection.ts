import { isRecord } from "../../../common/options/is-record.js";
import { isTooDeep } from "../../../common/http-server/nesting.js";
import { openSocket, type OpenSocket } from "#platform/network";
import { shown } from "../../../common/options/check-arguments.js";
import { shownUrl } from "../../base/http/request-json.js";
import { withoutSecrets } from "../../base/http/without-secrets.js";

/** Where an OpenEnv server is, and what may be asked of it. */
export interface Peer {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** For one answer. */
  timeoutMs: number;
  /** Bytes a message may have. */
  maxBytes: number;
}

/** A server said no. */
export class Refusal extends Error {
  override name = "Refusal";
  constructor(
    message: string,
    readonly code: string,
    readonly data: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

/** The connection broke, or the server said something that the protocol does not know: the session is over. */
export class Lost extends Error {
  override name = "Lost";
}

/** Codes after which a server has ended the session. */
const endingCodes = new Set(["CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR"]);

/** What to do about a code, where it is not what the message says anyway. */
const advice: Readonly<Record<string, string>> = {
  INVALID_JSON: "the server read no JSON: is a proxy between?",
  UNKNOWN_TYPE: "this server speaks another version of OpenEnv",
  VALIDATION_ERROR: "the action does not fit its schema: give openEnv an action",
  EXECUTION_ERROR: "the environment failed while it acted",
  CAPACITY_REACHED: "all its sessions are in use",
  FACTORY_ERROR: "the server could not make an environment: look at its log",
  SESSION_ERROR: "the server ended the session: look at its log",
};

type Json = Record<string, unknown>;
interface Waiting {
  resolve(answer: Json): void;
  reject(error: Error): void;
}

/** One WebSocket of an OpenEnv server: one message at a time, answered in order. */
export class Connection {
  readonly #peer: Peer;
  readonly #socket: OpenSocket;
  #waiting: Waiting | undefined;
  /** What came before anything was asked: a server that is full says so. */
  #greeting: Json | undefined;
  #asked = false;
  #over: Error | undefined;
  #whenClosed: () => void = () => undefined;
  readonly #closed = new Promise<void>((closed) => (this.#whenClosed = closed));

  private constructor(peer: Peer) {
    this.#peer = peer;
    this.#socket = openSocket(`${peer.url.replace(/^http/, "ws")}/ws`, peer, {
      opened: () => this.#taken()?.resolve({}),
      message: (text) => {
        this.#receive(text);
      },
      closed: (why) => {
        this.#whenClosed();
        this.#end(this.#lost("keep the session", `a closed connection (${why})`));
      },
    });
  }

  /** Opens a session. A server that is full accepts the connection and refuses it then, with a code. */
  static async open(peer: Peer, signal?: AbortSignal): Promise<Connection> {
    const made = new Connection(peer);
    try {
      await made.#answer("open a session", signal, () => undefined);
      // An answer means that a session is held. It is thrown away: a state may hold what no model may see.
      await made.ask("state", undefined, signal);
    } catch (error) {
      if (error instanceof Refusal && !endingCodes.has(error.code)) return made;
      void made.close();
      throw error;
    }
    return made;
  }

  get over(): boolean {
    return this.#over !== undefined;
  }

  /** Sends a message and gives the `data` of its answer; a refusal is a `Refusal`. */
  async ask(type: string, data?: object, signal?: AbortSignal): Promise<Json> {
    const doing = type === "step" ? "step the environment" : `ask for ${type}`;
    const message = JSON.stringify(data === undefined ? { type } : { type, data });
    this.#asked = true;
    const greeting = this.#greeting;
    this.#greeting = undefined;
    const answer =
      greeting ??
      (await this.#answer(doing, signal, () => {
        this.#socket.send(message);
      }));
    const said = answer["data"];
    if (!isRecord(said)) {
      throw this.#end(this.#lost(doing, `data that is ${shown(said)}`));
    }
    const fields: Json = said;
    if (answer["type"] !== "error") return fields;
    const { headers, url } = this.#peer;
    const code = withoutSecrets(headers, String(fields["code"])).slice(0, 40);
    const words = withoutSecrets(headers, String(fields["message"])).slice(0, 500);
    const meaning = advice[code] ?? "a code that OpenEnv does not have";
    const refusal = new Refusal(
      `Cannot ${doing}: ${shownUrl(url)} answered ${code}, ${meaning}: ${words}`,
      code,
      fields,
    );
    if (endingCodes.has(code)) this.#end(refusal);
    throw refusal;
  }

  /** Ends the session; it is over on the other side too, or late, when the promise is kept. */
  async close(): Promise<void> {
    this.#end(new Lost("Cannot go on: the session was closed"));
    await this.#closed;
  }

  #taken(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  #receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.#end(this.#lost("read an answer", `${text.length} characters that are not JSON`));
      return;
    }
    if (isTooDeep(message)) {
      this.#end(
        this.#lost("read an answer", "more lists and objects within each other than allowed"),
      );
      return;
    }
    const read = (typeof message === "object" && message !== null ? message : {}) as Json;
    const waiting = this.#taken();
    if (waiting) waiting.resolve(read);
    else if (!this.#asked && !this.#greeting) this.#greeting = read;
    else this.#end(this.#lost("read an answer", "a message that nobody asked for"));
  }

  /** The session is over: nothing that comes later is read. */
  #end(error: Error): Error {
    this.#over ??= error;
    this.#taken()?.reject(this.#over);
    this.#socket.close();
    return this.#over;
  }

  /** The next message, in its time. What is late ends the session: answers have no numbers. */
  async #answer(doing: string, signal: AbortSignal | undefined, send: () => void): Promise<Json> {
    signal?.throwIfAborted();
    if (this.#over) throw this.#over;
    if (this.#waiting) throw new Error(`Cannot ${doing}: one message at a time may be under way`);
    const { timeoutMs } = this.#peer;
    const stop = () => this.#end(signal!.reason as Error);
    const timer = setTimeout(() => {
      this.#end(this.#lost(doing, `nothing within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await new Promise<Json>((resolve, reject) => {
        this.#waiting = { resolve, reject };
        send();
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  }

  #lost(doing: string, got: string): Lost {
    return new Lost(
      `Cannot ${doing}: the OpenEnv server ${shownUrl(this.#peer.url)} must answer, got ${got}`,
    );
  }
}
