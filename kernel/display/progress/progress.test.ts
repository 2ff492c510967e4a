import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../tests/until.js";
import { FakeHost } from "../../../tests/display/fake-host.js";
import { clockText, progress, rateText } from "./progress.js";

const texts = (host: FakeHost): string[] => host.calls.map((c) => String(c.bundle?.["text/plain"]));
const last = (host: FakeHost): string => texts(host).at(-1) ?? "";

async function* slowly(n: number): AsyncGenerator<number> {
  for (let i = 0; i < n; i++) {
    await new Promise((done) => setTimeout(done, 2)); // slow: a source
    yield i;
  }
}

test("progress() shows one display, updated in place, that ends at its total", async () => {
  const host = new FakeHost();
  await host.within(() => {
    const seen: number[] = [];
    for (const x of progress([1, 2, 3], { label: "sum", every: 0 })) seen.push(x);
    assert.deepEqual(seen, [1, 2, 3]);
  });
  assert.equal(new Set(host.calls.map((c) => c.options?.id)).size, 1);
  assert.deepEqual(
    host.calls.map((c) => c.options?.update),
    [false, true, true, true, true],
  );
  assert.match(texts(host)[0]!, /^sum {4}0% \|·{20}\| 0\/3/);
  assert.match(last(host), /^sum {2}100% \|█{20}\| 3\/3 {2}0:00/);
});

test("progress() redraws rarely, and always at the end", async () => {
  const host = new FakeHost();
  await host.within(() => {
    let n = 0;
    for (const x of progress(200_000)) n += x;
    assert.equal(n, 19_999_900_000);
  });
  assert.ok(host.calls.length < 20, `${host.calls.length} messages`);
  assert.match(last(host), /200000\/200000/);
});

test("progress() walks async items, whose total it may not know", async () => {
  const host = new FakeHost();
  await host.within(async () => {
    for await (const x of progress(slowly(3), { label: "<wait>" })) assert.ok(x >= 0);
  });
  assert.match(last(host), /^<wait> {2}3 {2}0:00/);
  assert.match(String(host.calls.at(-1)?.bundle?.["text/html"]), /&lt;wait&gt;/);
});

test("progress() walks items with for await, resolving promises", async () => {
  const host = new FakeHost();
  await host.within(async () => {
    const got: number[] = [];
    for await (const x of progress([Promise.resolve(1), Promise.resolve(2)])) got.push(x);
    assert.deepEqual(got, [1, 2]);
  });
});

test("progress() says it was stopped when the loop is left or throws", async () => {
  const host = new FakeHost();
  await host.within(() => {
    for (const x of progress([1, 2, 3, 4])) if (x === 3) break;
  });
  assert.match(last(host), /2\/4 .*stopped/);
  await host.within(() => {
    assert.throws(() => {
      for (const x of progress(["a"])) throw new Error(x);
    }, /a/);
  });
  assert.match(last(host), /0\/1 .*stopped/);
});

test("progress() draws nested bars in the same display, one row per label", async () => {
  const host = new FakeHost();
  await host.within(() => {
    for (const epoch of progress(3, { label: "epoch", every: 0 })) {
      for (const step of progress(2, { label: "step", every: 0 })) assert.ok(epoch + step >= 0);
    }
  });
  assert.equal(new Set(host.calls.map((c) => c.options?.id)).size, 1);
  const lines = last(host).split("\n");
  assert.equal(lines.length, 2);
  assert.match(lines[0]!, /^epoch {2}100%.*3\/3/);
  assert.match(lines[1]!, /^ {2}step {2}100%.*2\/2/);
});

test("progress() ends with its run: an interrupt stops the bars and the loop", async () => {
  const host = new FakeHost();
  const abort = new AbortController();
  host.identity = { ...host.identity, id: "run-i", signal: abort.signal };
  await host.within(async () => {
    let steps = 0;
    const loop = async (): Promise<void> => {
      for await (const x of progress(slowly(100), { label: "long" })) steps += x >= 0 ? 1 : 0;
    };
    const ended = assert.rejects(loop(), /interrupted here/);
    await until(() => steps > 3, "some steps of the loop");
    abort.abort(new Error("interrupted here"));
    assert.match(last(host), /^long .*stopped/);
    await ended;
    assert.ok(steps < 100);
  });
});

test("progress() gives each run of a cell a display of its own", async () => {
  const host = new FakeHost();
  await host.within(() => {
    progress.bar({ total: 5 }).advance(); // left running, as an interrupted cell leaves it
    host.identity = { ...host.identity, id: "run-2" };
    progress.bar({ total: 5 }).done();
  });
  assert.equal(new Set(host.calls.map((c) => c.options?.id)).size, 2);
});

test("progress.bar() moves by hand, with a note, until it is done", async () => {
  const host = new FakeHost();
  await host.within(() => {
    const bar = progress.bar({ label: "train", total: 10, every: 0 });
    bar.advance(4, "loss 0.25");
    bar.set(5);
    bar.total = 20;
    bar.done("stopped");
    bar.advance();
    assert.equal(bar.value, 5);
  });
  assert.match(last(host), /5\/20 .*stopped {2}loss 0\.25/);
});

test("progress() refuses a count or a total that is none", () => {
  assert.throws(() => progress(-1), /integer of at least 0, got -1/);
  assert.throws(
    () => progress.bar({ total: NaN }),
    /total must be a number of at least 0, got NaN/,
  );
});

test("clockText() and rateText() choose readable units", () => {
  assert.deepEqual([7, 754, 3723].map(clockText), ["0:07", "12:34", "1:02:03"]);
  assert.deepEqual([0.25, 3.456, 1234.5, 0, Infinity].map(rateText), [
    "4 s each",
    "3.46/s",
    "1235/s",
    "",
    "",
  ]);
});
