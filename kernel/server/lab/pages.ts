import { randomUUID } from "#platform/uuid";
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

type PageReport = Partial<Omit<SaveReport, "silent">>;

/** The pages that are open: they listen on `/api/events/subscribe`. */
export class Pages {
  readonly #sockets = new Set<Line>();
  /** Which page each question went to. */
  readonly #asking = new Map<string, Line>();
  readonly #answers = new Map<string, (report: PageReport) => void>();

  add(socket: Line): void {
    this.#sockets.add(socket);
    socket.onClose(() => {
      this.#sockets.delete(socket);
      for (const [id, of] of this.#asking) if (of === socket) this.#answers.get(id)?.({});
    });
  }

  /** Asks every page to save what is not saved, and waits for the answers, but not for ever. */
  async save(patience: number): Promise<SaveReport> {
    const reports = await Promise.all(
      [...this.#sockets].map((socket) => this.#askOne(socket, patience)),
    );
    const answers = reports.filter((report) => report !== undefined);
    return {
      saved: answers.flatMap(({ saved = [] }) => saved),
      kept: answers.flatMap(({ kept = [] }) => kept),
      failed: answers.flatMap(({ failed = [] }) => failed),
      silent: reports.length - answers.length,
    };
  }

  async #askOne(socket: Line, patience: number): Promise<PageReport | undefined> {
    const id = randomUUID();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      return await new Promise((done) => {
        this.#answers.set(id, done);
        // A page that is being closed has asked its reader already.
        this.#asking.set(id, socket);
        timer = setTimeout(() => done(undefined), patience);
        socket.send(JSON.stringify({ schema_id: "arpo-lab/save", id }));
      });
    } finally {
      clearTimeout(timer);
      this.#answers.delete(id);
      this.#asking.delete(id);
    }
  }

  /** A page says what it saved. */
  answered(id: string, report: Record<string, unknown>): void {
    const list = <K extends keyof PageReport>(name: K): PageReport[K] =>
      Array.isArray(report[name]) ? (report[name] as PageReport[K]) : undefined;
    this.#answers.get(id)?.({ saved: list("saved"), kept: list("kept"), failed: list("failed") });
  }
}
