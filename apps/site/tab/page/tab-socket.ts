import type { FromServer } from "../server/messages.js";
import type { ServerThread } from "./tab-fetch.js";

type Listener = ((event: never) => void) | null;

/** Makes sockets to this site's server go to the thread; others stay what they were. */
export function replaceWebSocket(server: ServerThread): void {
  const Real = globalThis.WebSocket;

  class TabSocket extends EventTarget {
    static readonly CONNECTING = 0;
    static readonly OPEN = 1;
    static readonly CLOSING = 2;
    static readonly CLOSED = 3;
    readonly CONNECTING = 0;
    readonly OPEN = 1;
    readonly CLOSING = 2;
    readonly CLOSED = 3;
    binaryType: BinaryType = "blob";
    readonly bufferedAmount = 0;
    readonly extensions = "";
    protocol = "";
    readyState = 0;
    onopen: Listener = null;
    onmessage: Listener = null;
    onclose: Listener = null;
    onerror: Listener = null;
    readonly #socket: number;

    constructor(
      readonly url: string,
      target: string,
      protocols: string[],
    ) {
      super();
      this.#socket = server.connect(target, protocols, (message) => this.#hear(message));
    }

    #hear(message: FromServer): void {
      if (message.type === "opened") {
        this.readyState = 1;
        this.protocol = message.protocol;
        this.#tell("open", new Event("open"));
      } else if (message.type === "data") {
        const { data } = message;
        const bytes = typeof data === "string" ? data : data.slice().buffer;
        const whole =
          typeof bytes !== "string" && this.binaryType === "blob" ? new Blob([bytes]) : bytes;
        this.#tell("message", new MessageEvent("message", { data: whole }));
      } else if (message.type === "closed") this.#closed(message.code, message.reason);
    }

    #closed(code: number, reason: string): void {
      if (this.readyState === 3) return;
      this.readyState = 3;
      server.forget(this.#socket);
      this.#tell("close", new CloseEvent("close", { code, reason, wasClean: code !== 1006 }));
    }

    #tell(name: "open" | "message" | "close", event: Event): void {
      (this[`on${name}`] as ((event: Event) => void) | null)?.call(this, event);
      this.dispatchEvent(event);
    }

    send(data: string | ArrayBuffer | ArrayBufferView): void {
      const bytes =
        typeof data === "string"
          ? data
          : ArrayBuffer.isView(data)
            ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
            : new Uint8Array(data.slice(0));
      server.say({
        type: "data",
        socket: this.#socket,
        data: bytes as string | Uint8Array<ArrayBuffer>,
      });
    }

    close(code = 1000, reason = ""): void {
      if (this.readyState >= 2) return;
      this.readyState = 2;
      server.say({ type: "close", socket: this.#socket });
      queueMicrotask(() => this.#closed(code, reason));
    }
  }

  globalThis.WebSocket = new Proxy(Real, {
    construct: (_, [address, protocols = []]: [string | URL, (string | string[])?]) => {
      const target = server.targetOf(address);
      if (target === undefined) return new Real(address, protocols);
      return new TabSocket(String(address), target, [protocols].flat());
    },
  });
}
