import type { Answered, Asked, ReadSoFar } from "./messages.js";

type Question = Asked extends infer One ? (One extends Asked ? Omit<One, "id"> : never) : never;

interface Waiting {
  resolve: (answer: string) => void;
  reject: (error: Error) => void;
  progress: (so: ReadSoFar) => void;
}

/** A worker that is asked by messages: the one that reads files, and the one that runs a tree again. */
export class Reader {
  #worker: Worker | undefined;
  readonly #ready: Promise<void>;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  /** `alone` gives the same program in one piece, where a worker may import nothing. */
  constructor(script: URL, alone: () => Promise<string>) {
    const code = `import(${JSON.stringify(script.href)}).catch((error) => setTimeout(() => { throw error; }));`;
    // Firefox asks the policy for workers of what a worker imports, which would have to be of a blob too.
    this.#ready = this.#begin(code).catch(async () => this.#begin(await alone()));
    this.#ready.catch(() => undefined); // told to whoever asks
  }

  /** A worker of an address has the policy that the host sends, which may be none; one of a blob has the page's. */
  #begin(code: string): Promise<void> {
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    const worker = new Worker(address, { type: "module" });
    this.#worker?.terminate();
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<Answered | "ready">) => {
        if (data === "ready") resolve();
        else this.#take(data);
      };
      worker.onerror = ({ message }) => {
        const error = new Error(
          `Cannot read a file: the reader must start, got ${message ?? "nothing"}`,
        );
        reject(error);
        for (const { reject } of this.#waiting.values()) reject(error);
        this.#waiting.clear();
      };
    });
  }

  /** What is answered, mostly HTML of views; rejects with why there is nothing. */
  async ask(
    question: Question,
    progress: (so: ReadSoFar) => void = () => undefined,
  ): Promise<string> {
    await this.#ready;
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, progress });
      this.#worker!.postMessage({ id, ...question });
    });
  }

  /** Ends it, whatever it does. */
  stop(): void {
    this.#worker?.terminate();
    for (const { reject } of this.#waiting.values()) reject(new Error("Stopped."));
    this.#waiting.clear();
  }

  #take(answer: Answered): void {
    const waiting = this.#waiting.get(answer.id);
    if ("progress" in answer) return waiting?.progress(answer);
    this.#waiting.delete(answer.id);
    if ("answer" in answer) waiting?.resolve(answer.answer);
    else waiting?.reject(new Error(answer.error));
  }
}
