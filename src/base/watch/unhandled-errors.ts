import { pathOf } from "#platform/addresses";
import { packagePath } from "#platform/modules";
import { exitWith, onUnhandledErrors } from "#platform/process";
import { origin } from "./running.js";

/** Where this package's own compiled code is. */
const ours = packagePath("dist/");

/** Addresses are shorter. */
const longestFrame = 4000;

/** The innermost place of an error in a file that is neither this package's nor a library's. */
function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const line of (error.stack ?? "").split("\n").slice(1)) {
    if (line.length > longestFrame) continue; // a line of its message
    const [, file, at] =
      /(file:\/\/[^\s()]+|\/[^\s()]+|data:[^\s()]+)(:\d+:\d+)\)?$/.exec(line) ?? [];
    if (file === undefined) continue;
    const path = file.startsWith("file:") ? pathOf(file.split("?")[0]!) : file;
    if (path.startsWith(ours) || path.includes("/node_modules/")) continue;
    return `${path}${at}`;
  }
  return undefined;
}

const inWords = (error: unknown) =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/** Those who want to know, the newest last. */
const watchers: UnhandledErrors[] = [];
let deafen: (() => void) | undefined;

function stray(error: unknown): void {
  const [from, place] = [origin(), placeOf(error)];
  const whose = [from, place].filter((part) => part !== undefined).join(", ");
  const said = inWords(error);
  for (const watcher of watchers) watcher._count();
  watchers
    .at(-1)!
    ._report(
      `${place ?? from}: ${said}`,
      `an error that nobody waited for, from ${whose || "an unknown place"}: ${said}; the run goes on, and counts others like it`,
    );
}

const onRejection = (error: unknown) => stray(error);

function onException(error: unknown): void {
  // What our own code throws where nobody catches it may leave anything half done.
  if (origin() !== undefined || placeOf(error) !== undefined) return stray(error);
  exitWith(error);
}

/**
 * Keeps errors that nobody waits for (a floating rejection, a throw from a timer) in a reward, a tool or
 * a callback from ending the process: each is reported once and counted. Where somebody else has already
 * said what becomes of such errors, as a notebook's kernel has, nothing is changed.
 */
export class UnhandledErrors {
  readonly #report: (message: string) => void;
  #found = 0;
  readonly #told = new Set<string>();

  private constructor(report: (message: string) => void) {
    this.#report = report;
  }

  static watch(report: (message: string) => void): UnhandledErrors {
    const unhandled = new UnhandledErrors(report);
    if (watchers.length === 0) {
      deafen = onUnhandledErrors(onRejection, onException);
      if (!deafen) return unhandled;
    }
    watchers.push(unhandled);
    return unhandled;
  }

  /** How many there were since this was last asked. */
  take(): number {
    const found = this.#found;
    this.#found = 0;
    return found;
  }

  end(): void {
    const at = watchers.indexOf(this);
    if (at < 0) return;
    watchers.splice(at, 1);
    if (watchers.length > 0) return;
    deafen?.();
  }

  /** @internal */
  _count(): void {
    this.#found++;
  }

  /** @internal */
  _report(kind: string, message: string): void {
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#report(message);
  }
}
