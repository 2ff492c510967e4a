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
export interface BarOptions {
  /** What is going on, in front of the bar. */
  label?: string;
  /** How many steps there will be; without it, steps are only counted. */
  total?: number;
  /** The shortest time between two redraws, in milliseconds (100). */
  every?: number;
}

/** Where a bar stands: running, finished, or left early. */
type BarState = "running" | "done" | "stopped";

/** The count, the clock and the look of one bar; what shows it is `BarGroup`. */
export class Bar {
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
    if (options.total !== undefined && !(options.total >= 0)) {
      throw new RangeError(
        `Cannot show progress: 'total' must be at least 0, got ${options.total}`,
      );
    }
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
