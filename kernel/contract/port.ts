/** A way to another thread: one of Node's ports or workers, or a tab's. */
export interface Port {
  postMessage(message: unknown): void;
  onMessage(heard: (message: never) => void): void;
  /** The thread at its other end failed. */
  onError(failed: (error: Error) => void): void;
  /** Its other end is gone. */
  onGone(gone: () => void): void;
}
