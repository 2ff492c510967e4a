import type { Kernel } from "@jupyterlab/services";

/** A line to one kernel on which it answers questions, each with one message: the comm of a target. */
export class KernelLine<Question extends object, Answer extends object> {
  readonly #comm: Kernel.IComm;
  readonly #waiting = new Map<number, (answer: Answer | undefined) => void>();
  #asked = 0;
  #refused = false;

  constructor(kernel: Kernel.IKernelConnection, target: string) {
    this.#comm = kernel.createComm(target);
    this.#comm.onMsg = ({ content }) => {
      const { ask, error, ...answer } = content.data as { ask: number; error?: string };
      this.#waiting.get(ask)?.(error === undefined ? (answer as Answer) : undefined);
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

  /** False after a restart, and of a kernel that does not know the target. */
  get isOpen(): boolean {
    return !this.#refused && !this.#comm.isDisposed;
  }

  #close(): void {
    this.#refused = true;
    for (const answer of this.#waiting.values()) answer(undefined);
    this.#waiting.clear();
  }

  /** Undefined where the kernel has no answer. */
  async ask(question: Question): Promise<Answer | undefined> {
    if (!this.isOpen) return undefined;
    const ask = ++this.#asked;
    const answer = new Promise<Answer | undefined>((found) => this.#waiting.set(ask, found));
    this.#comm.send({ ...question, ask });
    return await answer;
  }
}
