import type { BackendName } from "../../tensor/backends.js";

/** How long a model's two tasks take on a backend, in milliseconds. */
export interface Timing {
  backend: BackendName;
  /** The processor's instruction set, or the name of the GPU. */
  on: string;
  /** A step of training; absent where the backend failed at it. */
  train?: number;
  /** A step of decoding; absent where the backend cannot. */
  decode?: number;
}

export type Task = "train" | "decode";

/** The backend of the shortest time; the first one where all failed. */
export function fastest(timings: readonly Timing[], task: Task): BackendName {
  const time = (timing: Timing) => timing[task] ?? Infinity;
  return timings.reduce((best, next) => (time(next) < time(best) ? next : best)).backend;
}

const milliseconds = (time: number | undefined) =>
  time === undefined ? "none" : `${Number(time.toPrecision(2))} ms`;

/** What was chosen for a task, beside what was not. */
export function verdict(timings: readonly Timing[], task: Task): string {
  const chosen = fastest(timings, task);
  const all = [...timings].sort(
    (a, b) => Number(b.backend === chosen) - Number(a.backend === chosen),
  );
  const numbers = all.map((timing) => `${timing.backend} ${milliseconds(timing[task])}`);
  return `${task}s on ${chosen} (${numbers.join(", ")})`;
}
