// Front ends that read slowly, or not at all, beside one that reads.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Subscriber } from "zeromq";
import { endpoint } from "../../kernel/wire/connection.js";
import { until } from "../until.js";
import { FrontEnd } from "./front-end.js";

const CHUNKS = 4000;
const SIZE = 100_000;
const print = `for (let i = 0; i < ${CHUNKS}; i++) { process.stdout.write("x".repeat(${SIZE}) + "#" + i + "\\n") }`;

function residentMb(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return (pages * 4096) / 2 ** 20;
}

/** Subscribes to all that the kernel publishes and reads nothing. */
function subscriber(kernel: FrontEnd): Subscriber {
  const socket = new Subscriber({ receiveHighWaterMark: 10, linger: 0 });
  socket.connect(endpoint(kernel.connection, kernel.connection.iopub_port));
  socket.subscribe();
  return socket;
}

const skip =
  process.platform === "linux" ? false : "only Linux closes connections that take nothing";

test(
  "a subscriber that never reads costs neither memory nor anybody's output",
  { skip },
  async (t) => {
    const kernel = await FrontEnd.start({ language: "javascript" });
    const stalled = subscriber(kernel);
    try {
      await kernel.execute("1");
      let peak = 0;
      const watch = setInterval(() => (peak = Math.max(peak, residentMb(kernel.process.pid!))), 50);
      const { text, reply, ms } = await kernel.execute(print);
      clearInterval(watch);
      assert.equal(reply.status, "ok");
      const lines = text.split("\n");
      assert.equal(lines.length, CHUNKS + 1);
      lines.slice(0, -1).forEach((line, i) => assert.ok(line.endsWith(`x#${i}`), `line ${i}`));
      t.diagnostic(
        `${(text.length / 1e6).toFixed(0)} MB in ${(ms / 1000).toFixed(1)} s, ${peak.toFixed(0)} MB at most`,
      );
      assert.ok(peak < 450, `${peak} MB`);
      const after = await kernel.execute("1 + 1");
      assert.deepEqual(after.result, { "text/plain": "2" });
    } finally {
      stalled.close();
      await kernel.close();
    }
  },
);

test("a subscriber that reads slowly misses nothing", async () => {
  const kernel = await FrontEnd.start({ language: "javascript" });
  const slow = subscriber(kernel);
  let heard = 0;
  const reading = (async () => {
    for await (const frames of slow) {
      const content = JSON.parse(frames.at(-1)!.toString()) as { text?: string };
      heard += content.text?.match(/#\d+\n/g)?.length ?? 0;
      if (heard % 50 === 0) await new Promise((r) => setTimeout(r, 20)); // slow: a front end
    }
  })();
  try {
    await kernel.execute("1");
    const { reply } = await kernel.execute(print);
    assert.equal(reply.status, "ok");
    await until(() => heard >= CHUNKS, "every line to come");
    assert.equal(heard, CHUNKS);
  } finally {
    slow.close();
    await kernel.close();
    await reading;
  }
});

test("an interrupt is answered while a subscriber keeps the cell waiting", { skip }, async () => {
  const kernel = await FrontEnd.start({ language: "javascript" });
  const stalled = subscriber(kernel);
  try {
    await kernel.execute("const kept = 41");
    const running = kernel.start(`for (;;) process.stdout.write("x".repeat(${SIZE}))`);
    for (let before = -1; running.messages.length !== before;) {
      before = running.messages.length; // until nothing more comes: the cell waits
      // slow: a reader that takes nothing for a second
      await new Promise((r) => setTimeout(r, 1000));
    }
    await kernel.request("control", "interrupt_request");
    await running.replied;
    assert.deepEqual((await kernel.execute("kept + 1")).result, { "text/plain": "42" });
  } finally {
    stalled.close();
    await kernel.close();
  }
});
