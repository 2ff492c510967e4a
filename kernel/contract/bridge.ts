// What the thread that runs cells (main) and the thread that speaks Jupyter (wire) say to each other.
// Plain data only: it is copied from one thread to the other.
import type { MimeBundle } from "../host/host.js";
import type { MadeNames } from "./compiler.js";

export interface ErrorReport {
  ename: string;
  evalue: string;
  /** Lines, with ANSI colours. */
  traceback: string[];
}

/** Code to evaluate on the main thread. */
export interface RunRequest {
  type: "run";
  id: string;
  count: number;
  js: string;
  map: string | undefined;
  filename: string;
  source: string;
  /** `expression`: its value is an answer and not output. */
  kind: "cell" | "expression";
  /** The value is not shown. */
  silent: boolean;
  /** The front end can be asked for input. */
  allowStdin: boolean;
  /** The front end's own name for the cell, where it gives one. */
  cellId?: string | undefined;
  /** It comes from the compiler's thread, and runs only where the main thread can take this turn. */
  turn?: number;
}

export type CommEvent = "open" | "message" | "close";

export interface CommTraffic {
  type: "comm";
  event: CommEvent;
  commId: string;
  target: string;
  data: Record<string, unknown>;
  metadata: Record<string, unknown>;
  buffers: Uint8Array[];
}

export type ToMain =
  | RunRequest
  | { type: "interrupt"; interrupt: number; question: number }
  | (CommTraffic & { id: string })
  | { type: "shutdown" };

export type Outcome =
  | { status: "ok"; bundle?: MimeBundle | undefined }
  /** `more` is shown below the error. */
  | { status: "error" | "interrupted"; error: ErrorReport; more?: MimeBundle | undefined };

/**
 * `id` names the cell, or the comm message, that the output belongs to; "" is nobody. `weight`: how much
 * it adds to `WORDS.inFlight` until it has been handed to the network.
 */
export type FromMain =
  | { type: "stream"; id: string; name: "stdout" | "stderr"; text: string; weight: number }
  | {
      type: "display";
      id: string;
      bundle: MimeBundle;
      metadata: Record<string, unknown>;
      displayId: string | undefined;
      update: boolean;
      weight?: number;
    }
  | { type: "clear"; id: string; wait: boolean }
  /** An error outside of the cell's own flow: a timer, an unhandled rejection. */
  | { type: "error"; id: string; error: ErrorReport }
  | (CommTraffic & { id: string; weight?: number })
  | { type: "comm-handled"; id: string }
  | { type: "input"; id: string; prompt: string; password: boolean }
  /** `made`: the names the cell has given a value, for the compiler. */
  | { type: "done"; id: string; outcome: Outcome; made: MadeNames }
  /** Nothing can be output under this id any more. */
  | { type: "forgotten"; id: string }
  | { type: "interrupted"; interrupt: number; question: number }
  /** What the debugger's client is to read, and no cell's output. */
  | { type: "debug-output"; text: string };

/** Goes the other way on a port of its own, so that the main thread can block until it comes. */
export type InputAnswer = { ok: true; text: string } | { ok: false; reason: string };

/** Where in the words of memory that the threads share (`WireData.words`) each of them stands. */
export const WORDS = {
  /** Not 0 while an interrupt is pending. */
  interrupt: 0,
  /** Characters of output sent by main and not yet handed to the network. */
  inFlight: 1,
  /** Counts answers to input, so that a blocked main thread can wait for the next. */
  inputs: 2,
  /** The cell that the main thread may run as soon as it comes from the compiler; 0 is none. */
  turn: 3,
  /** How many loads of the kernel's own modules the main thread waits for: one that is struck never ends. */
  loading: 4,
} as const;

/** Bytes of these words. */
export const WORDS_BYTES = 4 * Object.keys(WORDS).length;

/** What the wire thread is started with. */
export interface WireData {
  connectionFile: string;
  language: "typescript" | "javascript";
  /** Shared where threads can share memory. */
  words: SharedArrayBuffer | ArrayBuffer;
  folder: string;
}
