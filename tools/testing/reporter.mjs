// A reporter of Node's test runner: tells the process that started the test file what became of each test.
const told = new Set(["test:dequeue", "test:pass", "test:fail"]);

export default async function* report(events) {
  for await (const { type, data } of events) {
    if (!told.has(type)) continue;
    const { name, skip, todo, details } = data;
    process.send?.({ type, name, skip, todo, isSuite: details?.type === "suite" });
  }
  yield "";
}
