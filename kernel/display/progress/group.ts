import { noteWidth, writeNote } from "#platform/note";
import { randomUUID } from "#platform/uuid";
import { currentHost } from "../../host/host.js";
import { Bar, type BarOptions } from "./bar.js";

const maxRows = 20;

/**
 * The bars of one display: an outer one and those that ran inside it. Redrawn at most every `every`
 * milliseconds, by whoever advances a bar, because a timer would never fire in a busy loop.
 */
export class BarGroup {
  readonly run: string;
  readonly #id = randomUUID();
  #rows: Bar[] = [];
  #shown = false;
  #drawn = -Infinity;
  #lastLines = 0;

  /** `signal` is aborted when the run is interrupted: what still waits will never end its bars. */
  constructor(run: string, signal?: AbortSignal) {
    this.run = run;
    signal?.addEventListener("abort", () => this.#stop(), { once: true });
  }

  #stop(): void {
    for (const bar of this.#rows.toReversed()) bar.done("stopped");
  }

  /** True while a bar of the group runs: a new one belongs under it. */
  get active(): boolean {
    return this.#rows.some((bar) => bar.state === "running");
  }

  /** Adds a bar; a finished one of the same depth and label gives it its row. */
  add(options: BarOptions): Bar {
    const depth = this.#rows.filter((bar) => bar.state === "running").length;
    const bar: Bar = new Bar(options, depth, (force) => this.#changed(bar, force));
    const place = this.#rows.findIndex(
      (old) => old.state !== "running" && old.depth === depth && old.label === bar.label,
    );
    if (place >= 0) this.#rows[place] = bar;
    else this.#rows.push(bar);
    while (this.#rows.length > maxRows) {
      const finished = this.#rows.findIndex((old) => old.state !== "running");
      if (finished < 0) break;
      this.#rows.splice(finished, 1);
    }
    this.#changed(bar, place < 0);
    return bar;
  }

  #changed(bar: Bar, force: boolean): void {
    const now = performance.now();
    const last = !this.active;
    if (!last && !(force && bar.depth === 0) && now - this.#drawn < bar.every) return;
    this.#drawn = now;
    this.#draw(last);
  }

  #draw(last: boolean): void {
    const text = this.#rows.map((bar) => bar.text()).join("\n");
    const host = currentHost();
    const width = noteWidth();
    if (host !== undefined) {
      const html = `<div>${this.#rows.map((bar) => bar.html()).join("")}</div>`;
      host.display(
        { "text/plain": text, "text/html": html },
        { id: this.#id, update: this.#shown },
      );
      this.#shown = true;
    } else if (width !== undefined) {
      const up = this.#lastLines > 1 ? `\x1b[${this.#lastLines - 1}A` : "";
      const lines = text.split("\n").map((line) => `\x1b[2K${line.slice(0, width - 1)}`);
      writeNote(`\r${up}${lines.join("\n")}${last ? "\n" : ""}`);
      this.#lastLines = lines.length;
    } else if (last) {
      writeNote(`${text}\n`);
    }
  }
}
