import type { Frames } from "./codec.js";

/** Somebody whom a kernel's messages are for. */
export interface Listener {
  /** True while it is connected, not only remembered. */
  readonly connected: boolean;
  receive(frames: Frames): void;
  /** The kernel is gone for good. */
  close(): void;
}
