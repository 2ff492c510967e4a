import type { Kernel } from "@jupyterlab/services";

// What the kernel answers is defined in kernel/contract/stale.ts; the page is built from its own folder and
// cannot reach it.

/** A code cell as it stands now. */
export interface StaleCell {
  id: string;
  source: string;
}

export interface CellState {
  edited: boolean;
  stale: { name: string; why: "newer" | "edited" | "stale" | "gone" }[];
}

export interface StaleAnswer {
  cells: Record<string, CellState>;
  plan: string[];
  loops: string[][];
  long: string[];
  error?: string;
}

/** The line to one kernel on which it is asked what is stale. */
export class StaleLine {
  readonly #comm: Kernel.IComm;
  readonly #waiting = new Map<number, (answer: StaleAnswer | undefined) => void>();
  #asked = 0;
  #refused = false;

  constructor(kernel: Kernel.IKernelConnection) {
    this.#comm = kernel.createComm("arpo-lab.stale");
    this.#comm.onMsg = ({ content }) => {
      const { ask, ...answer } = content.data as unknown as StaleAnswer & { ask: number };
      this.#waiting.get(ask)?.(answer);
      this.#waiting.delete(ask);
    };
    // A kernel that knows no such comm closes it at once, and a kernel that ends answers nothing.
    this.#comm.onClose = () => this.#close();
    kernel.statusChanged.connect((_, status) => {
      if (["restarting", "autorestarting", "dead"].includes(status)) this.#close();
    });
    kernel.disposed.connect(() => this.#close());
    void this.#comm.open({});
  }

  /** False after a restart, and of a kernel that does not know what is stale. */
  get isOpen(): boolean {
    return !this.#refused && !this.#comm.isDisposed;
  }

  #close(): void {
    this.#refused = true;
    for (const answer of this.#waiting.values()) answer(undefined);
    this.#waiting.clear();
  }

  /** Undefined where the kernel has no answer. With `of`: what depends on that cell is the plan. */
  async ask(cells: StaleCell[], of?: string): Promise<StaleAnswer | undefined> {
    if (!this.isOpen) return undefined;
    const ask = ++this.#asked;
    const answer = new Promise<StaleAnswer | undefined>((found) => this.#waiting.set(ask, found));
    this.#comm.send({
      cells: cells.map(({ id, source }) => ({ id, source })),
      ask,
      ...(of !== undefined && { of }),
    });
    const found = await answer;
    return found?.error === undefined ? found : undefined;
  }
}
