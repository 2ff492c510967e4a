import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frames } from "./codec.js";
import { Recording } from "./executions.js";

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const say = (content: Record<string, unknown>): Frames => ({
  channel: "iopub",
  header: json({}),
  parent: json({}),
  metadata: json({}),
  content: json(content),
  buffers: [],
});
const contents = (recording: Recording): unknown[] =>
  recording.frames().map((frames) => JSON.parse(Buffer.from(frames.content).toString()) as unknown);

test("Recording keeps the last update of each place", () => {
  const recording = new Recording(1e6);
  recording.add("display_data", say({ at: 0, transient: { display_id: "a" } }));
  for (let at = 1; at <= 3000; at++) {
    for (const display_id of ["a", "b"]) {
      recording.add("update_display_data", say({ at, transient: { display_id } }));
    }
  }
  recording.add("stream", say({ text: "after" }));
  assert.deepEqual(contents(recording), [
    { at: 0, transient: { display_id: "a" } },
    { at: 3000, transient: { display_id: "a" } },
    { at: 3000, transient: { display_id: "b" } },
    { text: "after" },
  ]);
  assert.ok(recording.bytes < 1000, String(recording.bytes));
});

test("Recording forgets what was cleared, at once or at the next output", () => {
  const recording = new Recording(1e6);
  recording.add("execute_input", say({ code: "x" }));
  recording.add("stream", say({ text: "1" }));
  recording.add("clear_output", say({ wait: true }));
  assert.equal(contents(recording).length, 3);
  recording.add("stream", say({ text: "2" }));
  assert.deepEqual(contents(recording), [{ code: "x" }, { text: "2" }]);
  recording.add("clear_output", say({ wait: false }));
  assert.deepEqual(contents(recording), [{ code: "x" }, { wait: false }]);
});

test("Recording lets the oldest text go and says how much", () => {
  const recording = new Recording(100_000);
  recording.add("display_data", say({ figure: "f".repeat(10_000) }));
  const sent = 3000;
  for (let i = 0; i < sent; i++) recording.add("stream", say({ text: `${i} ${"x".repeat(90)}` }));
  assert.ok(recording.bytes <= 100_000);
  const [figure, ...texts] = contents(recording) as { figure?: string; text?: string }[];
  assert.ok(figure?.figure !== undefined);
  const numbers = texts.map(({ text }) => Number.parseInt(text!, 10));
  assert.deepEqual(
    numbers,
    Array.from(numbers, (_, i) => sent - numbers.length + i),
  );
  assert.ok(numbers.length > 500 && recording.cut > (sent - numbers.length) * 90);
});
