import type { ExecutionEvent } from "../../kernel/notebook/execute.js";
import { joinLines, type NotebookCell } from "../../kernel/notebook/notebook.js";
import { printable } from "../../src/text/printable.js";

/** What a person calls a cell: its first line that says something. */
function nameOf(cell: NotebookCell): string {
  const line = joinLines(cell.source)
    .split("\n")
    .map((l) => l.trim())
    .find((l) => l !== "");
  const short = line !== undefined && line.length > 50 ? `${line.slice(0, 49)}…` : (line ?? "");
  return printable(short);
}

const seconds = (s: number): string => (s < 10 ? `${s.toFixed(2)} s` : `${Math.round(s)} s`);

/**
 * Says how far an execution is: one line that changes in a terminal, one line a cell elsewhere.
 */
export class RunReporter {
  readonly #out: NodeJS.WriteStream;
  #timer: NodeJS.Timeout | undefined;
  #line = "";

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  /** Takes one event of the execution. */
  report(event: ExecutionEvent): void {
    if (event.type === "kernel") {
      this.#status(`starting ${event.spec.displayName}`);
      return;
    }
    const place = `cell ${event.number} of ${event.of}`;
    const name = nameOf(event.cell);
    if (event.type === "start") {
      const start = Date.now();
      const show = (): void =>
        this.#status(`${place}  ${seconds((Date.now() - start) / 1000)}  ${name}`);
      show();
      if (this.#out.isTTY) this.#timer = setInterval(show, 200);
      return;
    }
    clearInterval(this.#timer);
    const mark = event.failed ? "failed" : "ok";
    this.line(`${place}  ${mark}  ${seconds(event.seconds)}  ${name}`);
  }

  /** Writes a line that stays. */
  line(text: string): void {
    this.#erase();
    this.#out.write(`${text}\n`);
  }

  /** Ends the changing line. */
  close(): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  #status(text: string): void {
    if (!this.#out.isTTY) return;
    this.#erase();
    this.#line = text.slice(0, Math.max(20, (this.#out.columns || 80) - 1));
    this.#out.write(this.#line);
  }

  #erase(): void {
    if (this.#line !== "") this.#out.write("\r\x1b[2K");
    this.#line = "";
  }
}
