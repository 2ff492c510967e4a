// Not written where it is imported: a bundler would put it in.
const dataScript = ["data:text/javascript", ""].join(",");

/** Ways out that the policy of the frame must have closed, by what tries them. */
const ways: Record<string, () => unknown> = {
  "code from strings": () => (0, eval)("1"),
  "a function from strings": () => new Function("return 1")(),
  connections: () => fetch("data:text/plain,x"),
  "scripts of others": () => import(dataScript),
  "the origin's databases": () =>
    new Promise((resolve, reject) => {
      const asked = indexedDB.open("x");
      asked.onsuccess = resolve;
      asked.onerror = () => reject(new Error("refused"));
    }),
  "the origin's caches": () => caches.open("x"),
  "the origin's files": () => navigator.storage.getDirectory(),
};

/** WebKit has caches even where there is no origin to keep them for: nobody here may ask for them. */
function withoutCaches(): void {
  for (
    let owner: object | null = self;
    owner !== null;
    owner = Object.getPrototypeOf(owner) as object
  )
    Reflect.deleteProperty(owner, "caches");
}

/** Throws unless every wall stands: an interpreter that could reach out is not started. */
export async function checkSandbox(): Promise<void> {
  if (self.origin !== "null") {
    throw new Error(`Cannot start Python: its frame must have no origin, got ${self.origin}`);
  }
  withoutCaches();
  for (const [name, reach] of Object.entries(ways)) {
    let reached = true;
    try {
      await reach();
    } catch {
      reached = false;
    }
    if (reached) throw new Error(`Cannot start Python: its frame must be closed, got ${name}`);
  }
}
