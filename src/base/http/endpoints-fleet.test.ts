// Many endpoints that fail, freeze and return, on a clock that stands until it is moved.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoints } from "./endpoints.js";
import { duration, fleet, named, type Simulated } from "./testing/simulated-fleet.js";

/** Asks again and again, so many at a time, until it is told to stop. */
function load(endpoints: Endpoints, width: number) {
  const state = { stopped: false, done: 0, failed: 0 };
  for (let i = 0; i < width; i++) {
    void (async () => {
      while (!state.stopped) {
        await endpoints.post("x", {}).then(
          () => state.done++,
          () => state.failed++,
        );
      }
    })();
  }
  return state;
}

test("an endpoint that returns is used again within two seconds", async (t) => {
  const servers = named(2);
  const [first] = servers as [Simulated, Simulated];
  const { endpoints, pass } = fleet(t, servers, { concurrency: 40 });
  const work = load(endpoints, 68);
  await pass(() => first.answered > 65, 5000);
  first.kill();
  await pass(() => endpoints.health()[0]!.healthy === false, 100);
  for (let i = 0; i < 100; i++) await pass(() => true, 0).then(() => t.mock.timers.tick(100));
  const before = first.answered;
  first.state = "well";
  const ms = await pass(() => first.answered > before, 2000);
  assert.ok(ms <= 2000 && endpoints.health()[0]!.healthy);
  work.stopped = true;
  assert.equal(work.failed, 0);
});

test("a frozen endpoint is left within ten seconds, its requests answered elsewhere", async (t) => {
  const servers = named(2);
  const [first] = servers as [Simulated, Simulated];
  const { endpoints, notes, pass } = fleet(t, servers, { concurrency: 16 });
  first.state = "frozen";
  let done = 0;
  const all = Array.from({ length: 24 }, () => endpoints.post("x", {}).then(() => done++));
  await pass(() => done === 24, 10_500);
  await Promise.all(all);
  assert.match(notes.join(), /s0\.example\/v1 says nothing any more/);
  const before = first.answered;
  first.state = "well";
  const work = load(endpoints, 4);
  await pass(() => first.answered > before, 5000);
  work.stopped = true;
});

test("an endpoint that thinks for minutes is not given up while it says that it is well", async (t) => {
  const servers = named(2, () => 120_000);
  const { endpoints, pass } = fleet(t, servers);
  let done = 0;
  for (let i = 0; i < 4; i++) void endpoints.post("x", {}).then(() => done++);
  await pass(() => done === 4, 130_000, 50);
  assert.deepEqual(
    endpoints.health().map(({ failed }) => failed),
    [0, 0],
  );
});

test("when none is there requests wait, and then say that none was, without hammering", async (t) => {
  const servers = named(3);
  const { endpoints, pass } = fleet(t, servers, { outageMs: 20_000 });
  for (const server of servers) server.kill();
  const errors: Error[] = [];
  for (let i = 0; i < 50; i++) endpoints.post("x", {}).catch((e: Error) => errors.push(e));
  const ms = await pass(() => errors.length === 50, 30_000, 50);
  assert.ok(ms >= 20_000);
  assert.match(
    errors[0]!.message,
    /one of .*s0.*s1.*s2.* must answer, got nothing from any for 2\d s; the last one said: .*ECONNREFUSED/,
  );
  const failed = endpoints.health().reduce((sum, e) => sum + e.failed, 0);
  assert.ok(failed <= 150, `${failed} requests were made in vain`);
});

test("requests that wait in an outage are answered when an endpoint returns", async (t) => {
  const servers = named(2);
  const { endpoints, pass } = fleet(t, servers);
  for (const server of servers) server.kill();
  let done = 0;
  for (let i = 0; i < 10; i++) void endpoints.post("x", {}).then(() => done++);
  for (let i = 0; i < 100; i++) await pass(() => true, 0).then(() => t.mock.timers.tick(100));
  servers[1]!.state = "well";
  await pass(() => done === 10, 3000);
});

test("requests of one key go to one endpoint while it has room and is there", async (t) => {
  const servers = named(4);
  const { endpoints, pass } = fleet(t, servers);
  const keys = Array.from({ length: 8 }, () => ({}));
  const homes = keys.map(() => new Set<string>());
  const round = async () => {
    let done = 0;
    const read = (answer: unknown) => (answer as { from: string }).from;
    for (const [i, key] of keys.entries()) {
      for (let k = 0; k < 4; k++) {
        void endpoints.post("x", {}, { key, read }).then((from) => {
          homes[i]!.add(from);
          done++;
        });
      }
    }
    await pass(() => done === 32, 20_000);
  };
  await round();
  await round();
  assert.deepEqual(
    homes.map(({ size }) => size),
    Array(8).fill(1),
  );
  assert.equal(new Set(homes.flatMap((set) => [...set])).size, 4, "not all endpoints were used");
  const [gone] = homes[0]!;
  servers.find(({ url }) => url === gone)!.kill();
  await round();
  assert.deepEqual(homes[0]!.size, 2);
  await round();
  assert.deepEqual(homes[0]!.size, 2, "the new home is kept");
});

test("use() drains endpoints that are left out and asks those that join", async (t) => {
  const servers = named(3);
  const { endpoints, pass } = fleet(t, servers);
  await assert.rejects(endpoints.use([]), /urls must be a list of one or more/);
  await endpoints.use([servers[0]!.url, servers[1]!.url]);
  const work = load(endpoints, 20);
  await pass(() => servers[0]!.answered > 0, 1000);
  let drained = false;
  void endpoints.use([servers[1]!.url, servers[2]!.url]).then(() => (drained = true));
  await pass(() => drained, 1000);
  assert.equal(servers[0]!.running, 0);
  const before = servers[0]!.answered;
  await pass(() => servers[2]!.answered > 50, 5000);
  assert.equal(servers[0]!.answered, before);
  assert.deepEqual(
    endpoints.health().map(({ url }) => url),
    [servers[1]!.url, servers[2]!.url],
  );
  work.stopped = true;
  assert.equal(work.failed, 0);
});

test("everywhere() is done by all, and by one that was away before it is asked again", async (t) => {
  const servers = named(2);
  const { endpoints, pass } = fleet(t, servers);
  servers[0]!.kill();
  const work = load(endpoints, 4);
  await pass(() => servers[1]!.answered > 8, 2000);
  let ready = false;
  void endpoints
    .everywhere(async (ask) => {
      await ask("POST", "reload", "weights 2");
    })
    .then(() => (ready = true));
  await pass(() => ready, 2000);
  assert.ok(servers[1]!.bodies.includes("weights 2"));
  servers[0]!.state = "well";
  await pass(() => servers[0]!.answered > 3, 4000);
  assert.equal(servers[0]!.bodies[0], "weights 2");
  work.stopped = true;
  assert.equal(work.failed, 0);
});

test("eight endpoints with long tails and faults among them do seven times the work of one", async (t) => {
  const one = await duration(t, 1, 2000);
  const eight = await duration(t, 8, 16_000, { faults: true });
  const gain = (8 * one) / eight;
  assert.ok(gain >= 7, `${gain.toFixed(2)} times`);
});
