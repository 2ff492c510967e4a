import type { Kernel } from "@jupyterlab/services";
import type { OutputArea } from "@jupyterlab/outputarea";
import { showIn } from "../outputs/outputs.js";

/** A value of the session as the kernel lists it. */
export interface ListedValue {
  name: string;
  group: string;
  kind: string;
  text: string;
}

/** What asking a kernel for its values came to. */
export type Answer = { values: ListedValue[] } | { refused: true };

/** The line to one kernel on which its values are asked for. */
export class ValuesLine {
  readonly #comm: Kernel.IComm;
  readonly #waiting: ((answer: Answer) => void)[] = [];
  #refused = false;

  constructor(kernel: Kernel.IKernelConnection) {
    this.#comm = kernel.createComm("arpo-lab.values");
    this.#comm.onMsg = ({ content }) => {
      const { values } = content.data as unknown as { values: ListedValue[] };
      this.#waiting.shift()?.({ values });
    };
    // A kernel that knows no such comm closes it at once.
    this.#comm.onClose = () => {
      this.#refused = true;
      for (const answer of this.#waiting.splice(0)) answer({ refused: true });
    };
    void this.#comm.open({});
  }

  /** False after a restart: the kernel knows nothing of the line any more. */
  get isOpen(): boolean {
    return this.#refused || !this.#comm.isDisposed;
  }

  async list(): Promise<Answer> {
    if (this.#refused) return { refused: true };
    const answer = new Promise<Answer>((found) => this.#waiting.push(found));
    this.#comm.send({ method: "list" });
    return await answer;
  }

  /** Shows a value in an output area. */
  async show(name: string, area: OutputArea): Promise<void> {
    const future = this.#comm.send({ method: "show", name });
    area.model.clear();
    future.onIOPub = (message) => showIn(area, message);
    await future.done;
  }
}
