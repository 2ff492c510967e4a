import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A process that prints a JSON line when it is ready and another for every line it is given. */
export class Asked {
  readonly #child;
  readonly #lines: AsyncIterator<string>;
  #errors = "";

  constructor(
    readonly command: string,
    readonly args: readonly string[],
  ) {
    this.#child = spawn(command, args);
    this.#child.stderr.on("data", (text: Buffer) => (this.#errors += String(text)));
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** The next line that is JSON. */
  async read(): Promise<object> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error(`Cannot measure ${this.args[0]}: ${this.#errors}`);
      if (value.startsWith("{")) return JSON.parse(value) as object;
    }
  }

  ask(): Promise<object> {
    this.#child.stdin.write("\n");
    return this.read();
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.stdin.end();
    await once(this.#child, "exit");
  }
}
