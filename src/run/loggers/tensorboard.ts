import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { maskedCrc32c } from "./crc32c.js";
import type { Logger } from "./logger.js";

// The protobuf messages of an event file, as far as scalars need them: Event { wall_time = 1 (double),
// step = 2 (int64), file_version = 3 (string), summary = 5 }, Summary { value = 1 },
// Value { tag = 1 (string), simple_value = 2 (float) }.

function varint(value: number): number[] {
  const out: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...out, rest];
    out.push((rest % 128) | 128);
  }
}

function field(number: number, payload: Uint8Array | number[]): number[] {
  return [(number << 3) | 2, ...varint(payload.length), ...payload];
}

function fixed(number: number, bytes: 4 | 8, value: number): number[] {
  const view = new DataView(new ArrayBuffer(bytes));
  if (bytes === 8) view.setFloat64(0, value, true);
  else view.setFloat32(0, value, true);
  return [(number << 3) | (bytes === 8 ? 1 : 5), ...new Uint8Array(view.buffer)];
}

/** One record: length, its checksum, data, its checksum. */
function record(data: Uint8Array): Uint8Array {
  const out = new Uint8Array(16 + data.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, data.length, true);
  view.setUint32(8, maskedCrc32c(out.subarray(0, 8)), true);
  out.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc32c(data), true);
  return out;
}

/** The bytes of one event with scalars. */
export function scalarEvent(
  wallTime: number,
  step: number,
  scalars: Readonly<Record<string, number>>,
): Uint8Array {
  const text = new TextEncoder();
  const summary = Object.entries(scalars).flatMap(([tag, value]) =>
    field(1, [...field(1, text.encode(tag)), ...fixed(2, 4, value)]),
  );
  const event = [...fixed(1, 8, wallTime), 0x10, ...varint(step), ...field(5, summary)];
  return record(Uint8Array.from(event));
}

/** A logger that writes event files which TensorBoard reads. */
export async function tensorBoard(folder: string): Promise<Logger> {
  await mkdir(folder, { recursive: true });
  const now = () => Date.now() / 1000;
  const path = join(folder, `events.out.tfevents.${Math.floor(now())}.${process.pid}.arpo-lab`);
  const version = new TextEncoder().encode("brain.Event:2");
  await appendFile(path, record(Uint8Array.from([...fixed(1, 8, now()), ...field(3, version)])));
  return {
    name: "tensorboard",
    log: (step, metrics) => appendFile(path, scalarEvent(now(), step, metrics)),
  };
}
