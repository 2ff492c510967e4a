import { printable } from "../text/printable.js";
import { textTable } from "../text/text-table.js";
import type { LiveCurves } from "./live-curves.js";
import type { StepLines } from "./step-lines.js";
import type { AskTold, ToldValue } from "./told.js";

/** What a page or a terminal shows of a value, by media type. */
export type Shown = Record<string, string> | Promise<Record<string, string>>;

/** Makes what is shown of a value. */
type Show<T> = (value: T) => Shown;

const shows = new Map<string, Show<never>>();

/**
 * From here on values of a kind show themselves this way. Modules that make values know nothing of views:
 * they ask with `showAs`, and whoever can show a kind registers it, as `arpo-lab/view` does.
 */
export function registerShow<T>(kind: string, show: Show<T>): void {
  shows.set(kind, show);
}

/** What is shown of a value of this kind; its `toString()` where nobody has registered the kind. */
export function showAs<T extends { toString(): string }>(kind: string, value: T): Shown {
  const show = shows.get(kind) as Show<T> | undefined;
  return show ? show(value) : { "text/plain": value.toString() };
}

// The kernel finds by this symbol what answers a program about trees, so that neither needs the other's code.
(globalThis as { [key: symbol]: unknown })[Symbol.for("arpo-lab.tell")] ??= async (
  value: ToldValue,
  ask: AskTold,
) => (await import("./told.js")).tell(value, ask);

/** How many lines `console.log` prints of one value. */
const mostLogged = 24;

/** What `console.log` prints of a value: its text, with columns under one another, and how much is left out. */
export function logged(value: { toString(): string }): string {
  // It may quote what a model or a tool says: that is shown, not obeyed.
  const lines = printable(value.toString()).split("\n");
  const kept = lines.slice(0, mostLogged).map((line) => line.split("\t"));
  const told: string[] = [];
  for (let i = 0; i < kept.length;) {
    const { length } = kept[i]!;
    const end = kept.findIndex((row, j) => j > i && row.length !== length);
    const rows = kept.slice(i, end < 0 ? undefined : end);
    told.push(length === 1 ? rows.join("\n") : textTable(rows, "left"));
    i += rows.length;
  }
  const left = lines.length - mostLogged;
  if (left > 0) told.push(`… ${left} more ${left === 1 ? "line" : "lines"}; String(value) has all`);
  return told.join("\n");
}

/** How far work is, besides a line: as a share, as a table of its parts, as curves, where there are such. */
export interface LiveMore {
  share?: number;
  table?: string;
  curves?: LiveCurves;
}

/** A value on its way to a page while it grows. */
export interface LiveShow {
  /** What it is doing, in a line, and more of that. */
  tell?: (line: string, more?: LiveMore) => void;
  /** Whether the person who looks wants it to stop growing. */
  readonly stopping?: boolean;
  /** It has grown. */
  step: () => void;
  /** It will not grow further. */
  done: () => void;
}

/** Begins to show a value that grows; undefined where nobody looks. */
type Watch<T> = (value: T) => LiveShow | undefined;

const watches = new Map<string, Watch<never>>();

/** From here on values of a kind are shown this way while they grow. */
export function registerWatch<T>(kind: string, watch: Watch<T>): void {
  watches.set(kind, watch);
}

/** Shows a value of this kind while it grows; undefined where nobody has registered the kind. */
export function watchAs<T>(kind: string, value: T): LiveShow | undefined {
  const watch = watches.get(kind) as Watch<T> | undefined;
  return watch?.(value);
}

/**
 * Prints a line per step for who reads along, on a terminal or in a log; undefined in a notebook, which shows its own,
 * and where it is to be quiet.
 */
export async function stepLines(quiet: boolean, begun = 0): Promise<StepLines | undefined> {
  const inKernel = Symbol.for("arpo-lab.kernel.host") in globalThis;
  if (quiet || inKernel) return undefined;
  const lines = await import("./step-lines.js");
  return new lines.StepLines(begun);
}
