// The watchdog's thread: where the main thread's event loop has not turned for too long, a second thread
// asks it what it is doing, and ends the process if that is a user's code. This thread ends it where
// nobody can ask, because the main thread is inside a call that never comes back to JavaScript.
import { Worker, parentPort, workerData } from "node:worker_threads";
import { endOf, Heartbeat, type WatchdogData } from "./heartbeat.js";
import { writeSync } from "node:fs";

const data = workerData as WatchdogData;
const heart = new Heartbeat(data.memory);
/** How often it looks. A count of looks, not a clock: a machine that slept has not been busy. */
const everyMs = Math.min(500, data.patienceMs / 4);
/** Looks until the asking thread must have had its answer. */
const grace = Math.ceil(10_000 / everyMs);

// Made now: a thread cannot be started while the main thread does not answer.
const asker = new Worker(new URL("./ask-thread.js", import.meta.url), {
  workerData: data,
  execArgv: [],
});
asker.once("message", () => parentPort!.postMessage("ready"));
let last = heart.count;
let looks = 0;
let asked = false;

setInterval(() => {
  const now = heart.count;
  if (now !== last) {
    [last, looks, asked] = [now, 0, false];
    return;
  }
  looks++;
  if (looks * everyMs < data.patienceMs) return;
  if (!asked) {
    asked = true;
    asker.postMessage("ask");
  } else if (heart.inside !== "" && looks * everyMs > data.patienceMs + grace * everyMs) {
    writeSync(2, `${endOf(data, heart.inside)}\n`);
    process.kill(process.pid, "SIGKILL");
  }
}, everyMs);
