import { randomUUID } from "#platform/uuid";
import type { Json } from "../../../common/http-server/body.js";
import type { Line } from "../kernels/socket-line.js";

/** What the pages did with their unsaved documents. */
export interface SaveReport {
  saved: string[];
  /** Could not be saved where they belong and were kept beside it. */
  kept: { path: string; as: string }[];
  failed: { path: string; reason: string }[];
  /** Pages that did not answer in time. */
  silent: number;
}

/** A list of what a page said, where it said one. */
const listOf = <T>(answer: Json, name: string): T[] =>
  Array.isArray(answer[name]) ? (answer[name] as T[]) : [];

/** The pages that are open: they listen on `/api/events/subscribe`. */
export class Pages {
  readonly #sockets = new Set<Line>();
  /** Which page each question went to. */
  readonly #asking = new Map<string, Line>();
  readonly #answers = new Map<string, (answer: Json) => void>();

  /** How many are open. */
  get count(): number {
    return this.#sockets.size;
  }

  add(socket: Line): void {
    this.#sockets.add(socket);
    socket.onClose(() => {
      this.#sockets.delete(socket);
      for (const [id, of] of this.#asking) if (of === socket) this.#answers.get(id)?.({});
    });
  }

  /** Tells every page something that it does not answer here. */
  tell(message: Json): void {
    const text = JSON.stringify(message);
    for (const socket of this.#sockets) socket.send(text);
  }

  /** Asks every page to save what is not saved, and waits for the answers, but not for ever. */
  async save(patience: number): Promise<SaveReport> {
    const pages = this.count;
    const answers = await this.ask({ schema_id: "arpo-lab/save" }, patience);
    return {
      saved: answers.flatMap((answer) => listOf<string>(answer, "saved")),
      kept: answers.flatMap((answer) => listOf<SaveReport["kept"][number]>(answer, "kept")),
      failed: answers.flatMap((answer) => listOf<SaveReport["failed"][number]>(answer, "failed")),
      silent: pages - answers.length,
    };
  }

  /** Asks every page a question; gives the answers of those that answer within `patience` milliseconds. */
  async ask(question: Json, patience: number): Promise<Json[]> {
    const all = [...this.#sockets].map((socket) => this.#askOne(socket, question, patience));
    return (await Promise.all(all)).filter((answer) => answer !== undefined);
  }

  async #askOne(socket: Line, question: Json, patience: number): Promise<Json | undefined> {
    const id = randomUUID();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      return await new Promise<Json | undefined>((done) => {
        this.#answers.set(id, done);
        // A page that is being closed has asked its reader already.
        this.#asking.set(id, socket);
        timer = setTimeout(() => done(undefined), patience);
        socket.send(JSON.stringify({ ...question, id }));
      });
    } finally {
      clearTimeout(timer);
      this.#answers.delete(id);
      this.#asking.delete(id);
    }
  }

  /** A page answers. */
  answered(id: string, answer: Json): void {
    this.#answers.get(id)?.(answer);
  }
}
