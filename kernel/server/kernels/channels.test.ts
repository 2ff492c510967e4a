import assert from "node:assert/strict";
import { test } from "node:test";
import { ChannelSession } from "./channels.js";
import type { Frames } from "./codec.js";
import type { Line } from "./socket-line.js";
import { RunningKernel } from "./running-kernel.js";

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** A line that breaks when it is told to, with whatever is on its way. */
class TestLine implements Line {
  readonly protocol = "";
  readonly bufferedAmount = 0;
  readonly received: string[] = [];
  #gone: () => void = () => undefined;
  #confirming: (() => void)[] = [];

  send(data: string | Uint8Array): void {
    const { content } = JSON.parse(String(data)) as { content: { text: string } };
    this.received.push(content.text);
  }
  confirm(received: () => void): void {
    this.#confirming.push(received);
  }
  /** The other end answers. */
  answer(): void {
    for (const received of this.#confirming.splice(0)) received();
  }
  close(): void {
    this.#gone();
  }
  terminate(): void {
    this.#gone();
  }
  onMessage(): void {
    // The page sends nothing here.
  }
  onClose(gone: () => void): void {
    this.#gone = gone;
  }
}

function session(bytes = 1e6): { channels: ChannelSession; print: (...texts: string[]) => void } {
  const spec = { name: "none" } as ConstructorParameters<typeof RunningKernel>[0];
  const kernel = new RunningKernel(spec, ".", () => Promise.reject(new Error("not started")));
  const channels = new ChannelSession("s", kernel, { bytes, time: 60_000 }, () => undefined);
  const print = (...texts: string[]): void => {
    for (const text of texts) {
      const header = json({ msg_id: text, msg_type: "stream" });
      const [parent, metadata, content] = [json({}), json({}), json({ text })];
      const frames: Frames = { channel: "iopub", header, parent, metadata, content, buffers: [] };
      for (const listener of kernel.listeners) listener.receive(frames);
    }
  };
  return { channels, print };
}

test("ChannelSession sends again what was on its way when the line broke", () => {
  const { channels, print } = session();
  const first = new TestLine();
  channels.attach(first);
  print("a", "b");
  first.answer(); // for a
  first.answer(); // for b
  print("c", "d");
  first.close();
  print("e");
  const second = new TestLine();
  channels.attach(second);
  assert.deepEqual(second.received, ["c", "d", "e"]);
  second.answer();
  second.close();
  const third = new TestLine();
  channels.attach(third);
  assert.deepEqual(third.received, []);
  channels.close();
});

test("ChannelSession sends nothing twice to a page that says what it had", () => {
  const { channels, print } = session();
  const first = new TestLine();
  channels.attach(first, 0);
  print("a", "b", "c");
  // The page connects again before the server has heard that the line is broken.
  const second = new TestLine();
  channels.attach(second, 2);
  assert.deepEqual(second.received, ["c"]);
  print("d");
  second.close();
  const third = new TestLine();
  channels.attach(third, 4);
  assert.deepEqual(third.received, []);
  channels.close();
});

test("ChannelSession of a page that has counted before goes on counting there", () => {
  const { channels, print } = session();
  const first = new TestLine();
  channels.attach(first, 7);
  print("a", "b");
  first.close();
  const second = new TestLine();
  channels.attach(second, 8);
  assert.deepEqual(second.received, ["b"]);
  channels.close();
});

test("ChannelSession does not pass a part for the whole where too much was on its way", () => {
  const { channels, print } = session(40);
  const first = new TestLine();
  channels.attach(first);
  print("a".repeat(30), "b");
  first.close();
  const second = new TestLine();
  channels.attach(second);
  assert.deepEqual(second.received, []);
  print("c");
  assert.deepEqual(second.received, ["c"]);
  channels.close();
});
