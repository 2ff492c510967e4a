import type { Answered, Asked, ReadSoFar } from "./messages.js";

type Question = Asked extends infer One ? (One extends Asked ? Omit<One, "id"> : never) : never;

interface Waiting {
  resolve: (html: string) => void;
  reject: (error: Error) => void;
  progress: (so: ReadSoFar) => void;
}

/** The worker that reads files, asked by messages. */
export class Reader {
  readonly #worker: Worker;
  readonly #ready: Promise<void>;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(script: URL) {
    // A worker of an address has the policy that the host sends, which may be none; one of a blob has the
    // page's. Firefox asks worker-src of what it imports as well, so that names this host's scripts too.
    const code = `import(${JSON.stringify(script.href)}).catch((error) => setTimeout(() => { throw error; }));`;
    const start = new Blob([code], { type: "text/javascript" });
    this.#worker = new Worker(URL.createObjectURL(start), { type: "module" });
    this.#ready = new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }: MessageEvent<Answered | "ready">) => {
        if (data === "ready") resolve();
        else this.#take(data);
      };
      this.#worker.onerror = ({ message }) => {
        const error = new Error(
          `Cannot read a file: the reader must start, got ${message ?? "nothing"}`,
        );
        reject(error);
        for (const { reject } of this.#waiting.values()) reject(error);
        this.#waiting.clear();
      };
    });
    this.#ready.catch(() => undefined); // told to whoever asks
  }

  /** HTML of views; rejects with why there is none. */
  async ask(
    question: Question,
    progress: (so: ReadSoFar) => void = () => undefined,
  ): Promise<string> {
    await this.#ready;
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, progress });
      this.#worker.postMessage({ id, ...question });
    });
  }

  #take(answer: Answered): void {
    const waiting = this.#waiting.get(answer.id);
    if ("progress" in answer) return waiting?.progress(answer);
    this.#waiting.delete(answer.id);
    if ("html" in answer) waiting?.resolve(answer.html);
    else waiting?.reject(new Error(answer.error));
  }
}
