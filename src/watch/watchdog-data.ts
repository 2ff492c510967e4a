/** What the threads of the watchdog know of the process they look after. */
export interface WatchdogData {
  memory: SharedArrayBuffer;
  patienceMs: number;
  /** What is left when the process is ended, and what to do then. */
  afterwards: string;
}

/** The last words of a process that was kept busy. */
export function endOf(data: WatchdogData, what: string, where = ""): string {
  const seconds = Number((data.patienceMs / 1000).toPrecision(3));
  const at = where === "" ? "" : ` (${where})`;
  return `Cannot go on: ${what} must let others run within ${seconds} s, got code that does not return${at}; ${data.afterwards}`;
}
