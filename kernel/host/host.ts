import { noteOutside } from "#platform/note";

// What code running inside the kernel may ask of it. The host lives on the main thread beside the
// cells; a copy of this package imported by a notebook finds it through a global symbol, so the
// kernel and the notebook need not share one installation.

/** Mime type to content: text, base64 for binary types, an object for JSON types. */
export type MimeBundle = Record<string, unknown>;

export interface DisplayOptions {
  /** A later call with the same id and `update` replaces what is shown. */
  id?: string;
  update?: boolean;
  metadata?: Record<string, unknown>;
}

/** Binary parts are sent beside `data`, never inside it. */
export interface CommMessage {
  data: Record<string, unknown>;
  metadata: Record<string, unknown>;
  buffers: Uint8Array[];
}

export interface CommOptions {
  /** What the front end is told about the message. Default: empty. */
  metadata?: Record<string, unknown>;
  /** Bytes that are sent beside the message. Default: none. */
  buffers?: Uint8Array[];
}

export interface Comm {
  readonly id: string;
  readonly target: string;
  /** @param data the message, as JSON */
  send(data: Record<string, unknown>, options?: CommOptions): void;
  /** @param data a last message, as JSON */
  close(data?: Record<string, unknown>, options?: CommOptions): void;
  /** Replaced by assignment. Called at once, also while a cell waits. Output goes to that message. */
  onMessage?: (message: CommMessage) => void | Promise<void>;
  onClose?: (message: CommMessage) => void | Promise<void>;
}

export interface Comms {
  /**
   * Opens a comm towards the front end.
   * @param target the name that the front end registered
   * @param data the first message, as JSON
   */
  open(
    target: string,
    data?: Record<string, unknown>,
    options?: CommOptions & {
      /** The comm's id. Default: a random one. */
      id?: string;
    },
  ): Comm;
  /**
   * Front ends may open comms with this target from now on.
   * @param target the name that a front end opens
   * @param opened called with each comm that is opened
   */
  register(target: string, opened: (comm: Comm, message: CommMessage) => void): void;
  /** @param target the name that was registered */
  unregister(target: string): void;
  /** Open ones, by id. */
  readonly all: ReadonlyMap<string, Comm>;
}

/** The cell some code belongs to, also from its timers and promises after it ended. */
export interface CellIdentity {
  readonly id: string;
  readonly count: number;
  /** The front end's own name for the cell, the same each time it runs; not every front end has one. */
  readonly cellId?: string;
  /** Aborted by an interrupt while the cell runs; the reason is an `InterruptError`. */
  readonly signal: AbortSignal;
}

export interface KernelHost {
  /** Sends a bundle, in order with everything the current cell printed before. */
  display(bundle: MimeBundle, options?: DisplayOptions): void;
  /** With `wait`, only when the next output arrives. */
  clearOutput(wait?: boolean): void;
  stream(name: "stdout" | "stderr", text: string): void;
  /** Asks the person at the front end. Rejects where the front end cannot be asked. */
  input(prompt: string, options?: { password?: boolean }): Promise<string>;
  /** The same, blocking the main thread as a browser's `prompt` does. */
  inputSync(prompt: string, options?: { password?: boolean }): string;
  readonly comms: Comms;
  /** Where an error came from, in the words of its cells; without the kernel's and Node's own frames. */
  frames(error: Error): string[];
  /** undefined outside of any cell. */
  cell(): CellIdentity | undefined;
  /** One word of shared memory: 0, or not 0 while an interrupt is pending. */
  readonly interruptFlag: Int32Array;
  /** Throws `InterruptError` when an interrupt is pending. */
  checkInterrupt(): void;
}

const key = Symbol.for("arpo-lab.kernel.host");
type Holder = { [key]?: KernelHost };

/** Makes `host` the one that `currentHost()` finds; undefined removes it (tests). */
export function setCurrentHost(host: KernelHost | undefined): void {
  (globalThis as Holder)[key] = host;
}

/** The kernel this code runs in, or undefined in a plain Node program. */
export function currentHost(): KernelHost | undefined {
  return (globalThis as Holder)[key];
}

/**
 * What an interrupted cell throws: from a loop's check, and as the reason of its abort signal.
 *
 * @example
 * ```ts
 * import { InterruptError } from "arpo-lab/kernel";
 * if (new InterruptError().name !== "InterruptError") throw new Error("named");
 * ```
 */
export class InterruptError extends Error {
  override name = "InterruptError";
  /** @param message the error's text */
  constructor(message = "Interrupted") {
    super(message);
  }
}

/** A full pipe that nobody reads would stop the thread, and strangers could fill it. */
const MOST = 50;
let lines = 0;

/**
 * A line for whoever started the kernel. It goes straight to the file: `process.stderr` belongs to the
 * cells.
 */
export function log(text: string): void {
  if (++lines > MOST) return;
  const last = lines === MOST ? " (no more of these will be told)" : "";
  noteOutside(`[arpo-lab kernel] ${text}${last}`);
}
