import type { KernelSpec } from "../../client/kernel-spec.js";
import type { Frames } from "./codec.js";

/** A kernel that was started, and the line to it. */
export interface Launched {
  /** True until it ended. */
  readonly alive: boolean;
  /** Resolves when it has, whoever ended it. */
  readonly ended: Promise<unknown>;
  signal(name: "SIGINT" | "SIGKILL"): void;
  /** Sends a front end's message; in order by channel. */
  send(frames: Frames): Promise<void>;
  /** Sends a request of our own. Its answer is given to nobody. */
  ask(channel: "shell" | "control", type: string, content: Record<string, unknown>): Promise<void>;
  /** Closes the line. */
  close(): void;
}

/** Starts a kernel in a folder; what it says goes to `receive`. */
export type Launch = (
  spec: KernelSpec,
  folder: string,
  receive: (frames: Frames) => void,
) => Promise<Launched>;
