import { utf8Bytes } from "#platform/bytes";
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  writeSync,
} from "#platform/files";
import { join } from "#platform/path";
import type { Json } from "./message.js";
import { log } from "../host/host.js";

type Entry = [line: number, source: string, output?: string];
type Row = [session: number, line: number, source: string | [string, string | null]];

const FILE = /^(\d+)\.jsonl$/;

/**
 * What was typed, in this session and earlier ones: a folder with one file per session, each line an
 * entry. Creating the file exclusively is what gives a session its number, so kernels that run at the
 * same time never share one.
 */
export class History {
  readonly #folder: string | undefined;
  #entries: Entry[] = [];
  #session = 0;
  #file: number | undefined;
  #failed = false;

  /** Without a folder, history lasts as long as the kernel. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  add(line: number, source: string): void {
    const entry: Entry = [line, source];
    this.#entries.push(entry);
    this.#write(entry);
  }

  /** The answer to history_request. */
  answer(request: Json): Json {
    try {
      return { status: "ok", history: this.#select(request) };
    } catch (error) {
      const evalue = error instanceof Error ? error.message : String(error);
      return { status: "error", ename: "HistoryError", evalue, traceback: [evalue], history: [] };
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #select(request: Json): Row[] {
    const shape = (row: Row): Row =>
      request.output === true ? [row[0], row[1], [row[2] as string, null]] : row;
    const n = typeof request.n === "number" && request.n > 0 ? request.n : Infinity;
    switch (request.hist_access_type) {
      case "range": {
        const session = Number(request.session ?? 0);
        const start = Number(request.start ?? 0);
        const stop = Number(request.stop ?? Infinity);
        return this.#of(session)
          .filter(([, line]) => line >= start && line < stop)
          .map(shape);
      }
      case "search": {
        const pattern = String(request.pattern ?? "*");
        const matches = (source: string) => matchesGlob(pattern, source);
        return this.#newest(n, matches, request.unique === true).map(shape);
      }
      case "tail":
      case undefined:
        return this.#newest(n, () => true, false).map(shape);
      default:
        throw new RangeError(
          `Cannot read history: hist_access_type must be range, tail or search, got ${String(request.hist_access_type)}`,
        );
    }
  }

  /** The last `n` that match, oldest first. */
  #newest(n: number, matches: (source: string) => boolean, unique: boolean): Row[] {
    const rows: Row[] = [];
    const seen = new Set<string>();
    const now = this.#session || this.#last() + 1;
    const sessions = [
      now,
      ...this.#sessions()
        .reverse()
        .filter((s) => s !== now),
    ];
    for (const session of sessions) {
      const entries =
        session === now ? this.#entries.map(([l, s]): Row => [now, l, s]) : this.#of(session);
      for (const row of entries.reverse()) {
        const source = row[2] as string;
        if (!matches(source) || (unique && seen.has(source))) continue;
        seen.add(source);
        rows.push(row);
        if (rows.length >= n) return rows.reverse();
      }
    }
    return rows.reverse();
  }

  /** 0 is this session, -1 the one before, a positive number itself. */
  #of(session: number): Row[] {
    const now = this.#session || this.#last() + 1;
    const number = session <= 0 ? now + session : session;
    if (number === now) return this.#entries.map(([line, source]): Row => [now, line, source]);
    if (this.#folder === undefined || !this.#sessions().includes(number)) return [];
    const text = readFileSync(join(this.#folder, `${number}.jsonl`), "utf8");
    return text
      .split("\n")
      .filter((line) => line.endsWith("]")) // a kernel killed while writing leaves half a line
      .map((line) => JSON.parse(line) as Entry)
      .map(([line, source]) => [number, line, source]);
  }

  #sessions(): number[] {
    if (this.#folder === undefined) return [];
    try {
      return readdirSync(this.#folder)
        .map((name) => Number(FILE.exec(name)?.[1] ?? 0))
        .filter((n) => n > 0)
        .sort((a, b) => a - b);
    } catch {
      return []; // no session has written yet
    }
  }

  #last(): number {
    return this.#sessions().at(-1) ?? 0;
  }

  #write(entry: Entry): void {
    if (this.#folder === undefined || this.#failed) return;
    try {
      this.#file ??= this.#create(this.#folder);
      writeSync(this.#file, utf8Bytes(`${JSON.stringify(entry)}\n`));
    } catch (error) {
      this.#failed = true;
      log(`Cannot keep history in ${this.#folder}: ${String(error)}`);
    }
  }

  #create(folder: string): number {
    mkdirSync(folder, { recursive: true });
    for (let session = this.#last() + 1; ; session++) {
      try {
        const file = openSync(join(folder, `${session}.jsonl`), "wx", 0o600);
        this.#session = session;
        return file;
      } catch (error) {
        if ((error as { code?: string }).code !== "EEXIST") throw error;
      }
    }
  }
}

/** Whether a text is as one of Jupyter's patterns says: `*` any text, `?` any character. */
export function matchesGlob(glob: string, text: string): boolean {
  let [g, t] = [0, 0];
  // The last `*`, and where the text behind it is tried.
  let [star, from] = [-1, 0];
  while (t < text.length) {
    if (glob[g] === "*") [star, from] = [g++, t];
    else if (glob[g] === "?" || glob[g] === text[t]) [g, t] = [g + 1, t + 1];
    else if (star >= 0) [g, t] = [star + 1, ++from];
    else return false;
  }
  while (glob[g] === "*") g++;
  return g === glob.length;
}
