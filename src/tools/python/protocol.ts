/** A line to a worker. */
export interface ChildRequest {
  id: number;
  kind: "run" | "preprocess";
  code: string;
  timeoutMs: number;
  /** Bytes kept of each of the two output streams. */
  outputBytes: number;
}

/** The first line from a worker: it can take calls. */
export interface ChildReady {
  ready: true;
  version: string;
}

/** A line from a worker. */
export interface ChildReply {
  id: number;
  /** The rewritten code, for `preprocess`. */
  text?: string;
  /** The exit status that `python -c` would have had. */
  status?: number;
  /** The time was over before the code was. */
  late?: boolean;
  /** The code's own process was ended by a signal. */
  crashed?: boolean;
  out?: string;
  outTotal?: number;
  err?: string;
  errTotal?: number;
  /** The worker ends after this answer. */
  retiring?: boolean;
  /** The interpreter broke; the worker ends. */
  fatal?: string;
  /** It broke after its last answer: no call of now is to blame. */
  isIdle?: boolean;
}
