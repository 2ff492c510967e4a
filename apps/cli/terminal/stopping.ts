import { aside } from "./say.js";
/** A command that was told to stop; shells expect 128 and the signal's number as its status. */
export class Stopped extends Error {
  readonly status: number;

  constructor(signal: "SIGINT" | "SIGTERM", where: string) {
    super(`Stopped ${where} by ${signal === "SIGINT" ? "Ctrl-C" : signal}`);
    this.status = statuses[signal];
  }
}

const statuses = { SIGINT: 130, SIGTERM: 143 };

/**
 * What Ctrl-C and SIGTERM do to a command: the first aborts the signal that is given back, with a
 * `Stopped`; the second ends the process. `where` says what the first still waits for.
 */
export function stoppable(where: "behind a step" | "early"): AbortSignal {
  const controller = new AbortController();
  const first = where === "early" ? "stopping" : "stopping when this step is done and saved";
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(statuses[name]);
      aside(`${first}; Ctrl-C again stops at once`);
      controller.abort(new Stopped(name, where));
    });
  }
  return controller.signal;
}
