import { checkOptions, fromTo, type OptionRules } from "../../../common/options/check-options.js";
import { noteWidth, writeNote } from "#platform/note";
import { randomUUID } from "#platform/uuid";
import { currentHost } from "../../host/host.js";
import { escapeHtml } from "../html.js";

/** Seconds as `0:07`, `12:34` or `1:02:03`. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const pad = (n: number): string => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
}

/** Steps a second, or seconds a step where that reads better. */
export function rateText(perSecond: number): string {
  if (!(perSecond > 0) || !Number.isFinite(perSecond)) return "";
  return perSecond >= 1
    ? `${perSecond >= 100 ? Math.round(perSecond) : Number(perSecond.toPrecision(3))}/s`
    : `${Number((1 / perSecond).toPrecision(3))} s each`;
}

/** How a bar begins. */
interface BarOptions {
  /** What is going on, in front of the bar. Default: none. */
  label?: string;
  /** How many steps there will be. Default: unknown, steps are only counted. */
  total?: number;
  /** The shortest time between two redraws, in milliseconds. Default: 100. */
  every?: number;
}

const barRules: OptionRules<BarOptions> = {
  label: "text?",
  total: fromTo(0, Infinity),
  every: fromTo(0, Infinity),
};

/** Where a bar stands: running, finished, or left early. */
type BarState = "running" | "done" | "stopped";

/** The count, the clock and the look of one bar; what shows it is `BarGroup`. */
class Bar {
  label: string;
  total: number | undefined;
  /** A word about the current step, after the bar. */
  note = "";
  readonly depth: number;
  readonly every: number;
  #value = 0;
  #state: BarState = "running";
  readonly #start = performance.now();
  #end = 0;
  readonly #changed: (force: boolean) => void;

  /** Made by `progress` and `progress.bar`. */
  constructor(options: BarOptions, depth: number, changed: (force: boolean) => void) {
    this.label = options.label ?? "";
    this.total = options.total;
    this.every = options.every ?? 100;
    this.depth = depth;
    this.#changed = changed;
  }

  /** Steps done so far. */
  get value(): number {
    return this.#value;
  }

  get state(): BarState {
    return this.#state;
  }

  /** Counts steps, with a word about the last. */
  advance(steps = 1, note = this.note): void {
    this.set(this.#value + steps, note);
  }

  /** Sets the number of steps done. */
  set(value: number, note = this.note): void {
    if (this.#state !== "running") return;
    this.#value = value;
    this.note = note;
    this.#changed(false);
  }

  /** Ends it; as `stopped` where it was left before its last step. */
  done(state: "done" | "stopped" = "done"): void {
    if (this.#state !== "running") return;
    this.#state = state;
    this.#end = performance.now();
    this.#changed(true);
  }

  [Symbol.dispose](): void {
    this.done();
  }

  #figures(): { fraction: number | undefined; text: string } {
    const seconds = ((this.#end || performance.now()) - this.#start) / 1000;
    const fraction =
      this.total === undefined || this.total === 0 ? undefined : this.#value / this.total;
    const rate = this.#value / seconds;
    const parts = [this.total === undefined ? `${this.#value}` : `${this.#value}/${this.total}`];
    const left = this.total === undefined ? undefined : (this.total - this.#value) / rate;
    const eta = this.#state === "running" && left !== undefined && Number.isFinite(left);
    parts.push(eta ? `${clockText(seconds)}<${clockText(left)}` : clockText(seconds));
    if (seconds > 0.05) parts.push(rateText(rate));
    if (this.#state === "stopped") parts.push("stopped");
    if (this.note !== "") parts.push(this.note);
    return { fraction, text: parts.filter((p) => p !== "").join("  ") };
  }

  /** One line of text. */
  text(): string {
    const { fraction, text } = this.#figures();
    const indent = "  ".repeat(this.depth);
    const label = this.label === "" ? "" : `${this.label}  `;
    if (fraction === undefined) return `${indent}${label}${text}`;
    const width = 20;
    const full = Math.min(width, Math.max(0, Math.round(fraction * width)));
    const percent = `${Math.min(100, Math.floor(fraction * 100))}%`.padStart(4);
    return `${indent}${label}${percent} |${"█".repeat(full)}${"·".repeat(width - full)}| ${text}`;
  }

  /** One row of HTML. */
  html(): string {
    const { fraction, text } = this.#figures();
    const color = { running: "#3b82f6", done: "#22a06b", stopped: "#d97706" }[this.#state];
    const percent =
      fraction === undefined
        ? this.#state === "running"
          ? 100
          : 0
        : Math.min(100, Math.max(0, fraction * 100));
    const faint = fraction === undefined ? ";opacity:.4" : "";
    return (
      `<div style="display:flex;gap:8px;align-items:center;margin-left:${this.depth * 16}px">` +
      (this.label === "" ? "" : `<span>${escapeHtml(this.label)}</span>`) +
      `<span style="flex:0 0 200px;height:8px;border-radius:4px;background:rgba(128,128,128,.25);overflow:hidden">` +
      `<span style="display:block;height:100%;width:${percent.toFixed(1)}%;background:${color}${faint}"></span></span>` +
      `<span style="font-variant-numeric:tabular-nums;opacity:.8">${escapeHtml(text)}</span></div>`
    );
  }
}

const maxRows = 20;

/**
 * The bars of one display: an outer one and those that ran inside it. Redrawn at most every `every`
 * milliseconds, by whoever advances a bar, because a timer would never fire in a busy loop.
 */
class BarGroup {
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

let group: BarGroup | undefined;

function bar(options: BarOptions = {}): Bar {
  checkOptions("show progress", options, barRules);
  const cell = currentHost()?.cell();
  const run = cell?.id ?? "";
  if (group?.run !== run || !group.active) group = new BarGroup(run, cell?.signal);
  return group.add(options);
}

/** How many items there are, where that is known before counting. */
function totalOf(items: object): number | undefined {
  const { length, size } = items as { length?: unknown; size?: unknown };
  if (typeof length === "number") return length;
  return typeof size === "number" ? size : undefined;
}

function* watch<T>(items: Iterable<T>, options: BarOptions): Generator<T, void, undefined> {
  const own = bar(options);
  let finished = false;
  try {
    for (const item of items) {
      yield item;
      own.advance();
    }
    finished = true;
  } finally {
    own.done(finished ? "done" : "stopped");
  }
}

async function* watchAsync<T>(
  items: AsyncIterable<T> | Iterable<T>,
  options: BarOptions,
): AsyncGenerator<Awaited<T>, void, undefined> {
  const own = bar(options);
  const signal = currentHost()?.cell()?.signal;
  let finished = false;
  try {
    for await (const item of items) {
      yield item;
      own.advance();
      // An interrupted run must not go on behind the next cell's back.
      signal?.throwIfAborted();
    }
    finished = true;
  } finally {
    own.done(finished ? "done" : "stopped");
  }
}

/** What `progress` returns for items that can be walked without waiting. */
interface Watched<T> extends Iterable<T>, AsyncIterable<Awaited<T>> {}

/** @param items how many steps; the loop counts from 0 */
function progressOf(items: number, options?: BarOptions): Watched<number>;
/** @param items what the loop goes through */
function progressOf<T>(items: Iterable<T>, options?: BarOptions): Watched<T>;
/** @param items what the loop goes through */
function progressOf<T>(items: AsyncIterable<T>, options?: BarOptions): AsyncIterable<Awaited<T>>;
function progressOf<T>(
  items: number | Iterable<T> | AsyncIterable<T>,
  options: BarOptions = {},
): Watched<T> | Watched<number> | AsyncIterable<Awaited<T>> {
  checkOptions("show progress", options, barRules);
  if (typeof items === "number") {
    if (!Number.isSafeInteger(items) || items < 0) {
      throw new RangeError(
        `Cannot show progress: a count must be an integer of at least 0, got ${items}`,
      );
    }
    return progressOf(
      Array.from({ length: items }, (_, i) => i),
      options,
    );
  }
  const all = { ...options, total: options.total ?? totalOf(items) };
  if (Symbol.iterator in items) {
    return {
      [Symbol.iterator]: () => watch(items, all),
      [Symbol.asyncIterator]: () => watchAsync(items, all),
    };
  }
  return { [Symbol.asyncIterator]: () => watchAsync(items, all) };
}

/**
 * Walks items and shows how far it got: `for (const x of progress(items))`, or `for await`.
 *
 * A bar knows its total from `length` or `size`, or from `{ total }`. Bars inside bars share one
 * display, which is updated in place at most ten times a second and keeps its last state.
 * `progress.bar({ total })` is a bar to move by hand.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { progress } from "arpo-lab/kernel";
 *
 * let sum = 0;
 * for (const x of progress([1, 2, 3], { label: "sum" })) sum += x;
 * assert.equal(sum, 6);
 *
 * const bar = progress.bar({ label: "steps", total: 2 });
 * bar.advance(1, "loss 0.5");
 * bar.advance();
 * bar.done();
 * ```
 */
export const progress = Object.assign(progressOf, { bar });
