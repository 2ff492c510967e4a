// Firefox (153) stands still for ever, now and then, where a thread starts a second thread before the first
// one has come up: there they are started one by one.
const oneByOne = globalThis.navigator?.userAgent.includes("Firefox/") ?? false;
let last: Promise<unknown> = Promise.resolve();

/** Starts a thread whose script says `here()` first of all. */
export function startWorker(address: URL, options: WorkerOptions = {}): Promise<Worker> {
  const made = last.then(() => new Worker(address, { type: "module", ...options }));
  if (!oneByOne) return made;
  const arrived = made.then(
    (worker) =>
      new Promise<Worker>((done) => {
        for (const event of ["message", "error"])
          worker.addEventListener(event, () => done(worker));
      }),
  );
  last = arrived;
  return arrived;
}
