import { Worker } from "node:worker_threads";
import type { Json } from "../../../common/http-server/body.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { Answer, Call, Router } from "../http/router.js";

/** What the thread is started with. */
export interface ContentsData {
  folder: string;
  trustFile: string | undefined;
  unlisted?: readonly string[] | undefined;
  /** The largest body, in bytes. */
  limit: number;
}

/** A request, as the thread gets it. */
export interface ToContents {
  id: number;
  method: string;
  target: string;
  body: Uint8Array;
}

/** What the thread says: an answer, a refusal, or that a notebook was saved. */
export type FromContents =
  | { id: number; answer: Answer }
  | { id: number; refused: { status: number; message: string } }
  | { saved: { path: string; notebook: Json } };

interface Waiting {
  done(answer: Answer): void;
  failed(error: Error): void;
}

/** The contents API, answered by a thread of its own. */
export class ContentsThread {
  readonly #data: ContentsData;
  readonly #onNotebook: (path: string, notebook: Json) => void;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #worker: Worker | undefined;

  /** `onNotebook` hears of each notebook that was saved, before whoever saved it does. */
  constructor(data: ContentsData, onNotebook: (path: string, notebook: Json) => void) {
    this.#data = data;
    this.#onNotebook = onNotebook;
    this.#worker = this.#start();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./thread.js", import.meta.url), {
      workerData: this.#data,
      name: "contents",
      // An opened file is closed by whoever sends it, on another thread.
      trackUnmanagedFds: false,
    });
    worker.unref();
    let why = "";
    worker.on("error", (error) => (why = `: ${error.message}`));
    worker.on("message", (message: FromContents) => this.#said(message));
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
      const error = new ErrorResponse(500, `Cannot read or write files: their thread ended${why}`);
      for (const waiting of this.#waiting.values()) waiting.failed(error);
      this.#waiting.clear();
    });
    return worker;
  }

  #said(message: FromContents): void {
    if ("saved" in message) {
      this.#onNotebook(message.saved.path, message.saved.notebook);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ("answer" in message) waiting?.done(message.answer);
    else waiting?.failed(new ErrorResponse(message.refused.status, message.refused.message));
  }

  async #forward({ request, url, body }: Call): Promise<Answer> {
    const bytes = await body();
    // One that ended, for want of memory say, is started again for the next who asks.
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#last;
    const { buffer } = bytes;
    const isOwn = buffer.byteLength === bytes.byteLength;
    const answered = new Promise<Answer>((done, failed) => {
      this.#waiting.set(id, { done, failed });
    });
    const method = request.method ?? "GET";
    const asked: ToContents = { id, method, target: url.pathname + url.search, body: bytes };
    worker.postMessage(asked, isOwn ? [buffer] : []);
    return await answered;
  }

  /** Adds the contents API and the raw files. */
  routes(router: Router): void {
    const forward = async (call: Call): Promise<Answer> => await this.#forward(call);
    for (const method of ["GET", "PUT", "POST", "PATCH", "DELETE"]) {
      const limit = method === "PUT" ? this.#data.limit : undefined;
      router.on(method, "/api/contents/*", forward, limit);
    }
    router.on("GET", "/api/contents", forward);
    router.on("POST", "/api/contents", forward);
    router.on("GET", "/files/*", forward);
  }

  /** Ends the thread; what was under way is refused. */
  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }
}
