import type { FromServer, ToServer } from "../server/messages.js";

/** The server's thread as the page sees it: requests and sockets. */
export class ServerThread {
  readonly #worker: Worker;
  readonly #base: string;
  readonly #answers = new Map<number, (answer: Extract<FromServer, { type: "answer" }>) => void>();
  readonly #sockets = new Map<number, (message: FromServer) => void>();
  #count = 0;
  /** When a kernel last said something, in milliseconds. */
  heard = 0;
  onKernel: (message: Extract<FromServer, { type: "kernel" }>) => void = () => undefined;
  onState: (state: Extract<FromServer, { type: "state" }>) => void = () => undefined;

  constructor(worker: Worker, base: string) {
    this.#worker = worker;
    this.#base = base;
    worker.onmessage = ({ data }: MessageEvent<FromServer>) => {
      if (data.type === "answer") {
        this.#answers.get(data.id)?.(data);
        this.#answers.delete(data.id);
      } else if (data.type === "state") this.onState(data);
      else if (data.type === "kernel") this.onKernel(data);
      else {
        this.heard = performance.now();
        this.#sockets.get(data.socket)?.(data);
      }
    };
  }

  say(message: ToServer): void {
    this.#worker.postMessage(message);
  }

  /** What an address is to the server; undefined where it is a file of the site, or elsewhere. */
  targetOf(address: string | URL): string | undefined {
    const url = new URL(address, location.href);
    const base = new URL(this.#base);
    if (url.host !== base.host || !url.pathname.startsWith(base.pathname)) return undefined;
    const path = url.pathname.slice(base.pathname.length - 1);
    if (path.startsWith("/lab/api/themes")) return undefined;
    return /^\/(api|lab\/api|files|lsp)\b/.test(path) ? path + url.search : undefined;
  }

  async fetch(target: string, method: string, headers: Headers, body: ArrayBuffer) {
    const id = ++this.#count;
    const answer = await new Promise<Extract<FromServer, { type: "answer" }>>((done) => {
      this.#answers.set(id, done);
      this.say({
        type: "request",
        id,
        method,
        target,
        headers: Object.fromEntries(headers),
        body: new Uint8Array(body),
      });
    });
    const empty = answer.status === 204 || answer.status === 304;
    return new Response(empty ? null : answer.body, answer);
  }

  /** Gives a socket a number; what comes for it goes to `hear`. */
  connect(target: string, protocols: string[], hear: (message: FromServer) => void): number {
    const socket = ++this.#count;
    this.#sockets.set(socket, hear);
    this.say({ type: "open", socket, target, protocols });
    return socket;
  }

  forget(socket: number): void {
    this.#sockets.delete(socket);
  }
}

/** Lets what the page's scripts ask of their server go to the thread, and everything else where it went. */
export function replaceFetch(server: ServerThread): void {
  const ask = globalThis.fetch.bind(globalThis);
  globalThis.fetch = async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const target = server.targetOf(request?.url ?? String(input));
    if (target === undefined) return await ask(input, init);
    const whole = new Request(request ?? new URL(String(input), location.href), init);
    const body = await whole.arrayBuffer();
    return await server.fetch(target, whole.method, whole.headers, body);
  };
}
