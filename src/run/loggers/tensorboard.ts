import { appendDurably, makeFolder } from "../../../common/files/durable.js";
import { processId } from "#platform/process";
import { join } from "#platform/path";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { defineLogger } from "./definition.js";
import type { Logger } from "./logger.js";
import { field, fixed, text, whole } from "./protobuf.js";

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1;
  return c >>> 0;
});

/** CRC-32C (Castagnoli) of some bytes. */
function crc32c(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) c = table[(c ^ byte) & 0xff]! ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

/** The rotated form that record files store. */
function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

// The protobuf messages of an event file, as far as scalars need them: Event { wall_time = 1 (double),
// step = 2 (int64), file_version = 3 (string), summary = 5 }, Summary { value = 1 },
// Value { tag = 1 (string), simple_value = 2 (float) }.

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
function scalarEvent(
  wallTime: number,
  step: number,
  scalars: Readonly<Record<string, number>>,
): Uint8Array {
  const summary = Object.entries(scalars).flatMap(([tag, value]) =>
    field(1, [...text(1, tag), ...fixed(2, 4, value)]),
  );
  const event = [...fixed(1, 8, wallTime), ...whole(2, step), ...field(5, summary)];
  return record(Uint8Array.from(event));
}

/**
 * A logger that writes event files which TensorBoard reads.
 *
 * @param folder the folder of the event files
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readdir, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { tensorBoard } from "arpo-lab/run";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const logger = await tensorBoard(folder);
 * await logger.log(1, { "critic/score/mean": 0.5 });
 * assert.match((await readdir(folder))[0], /^events\.out\.tfevents\./);
 * await rm(folder, { recursive: true });
 * ```
 */
export async function tensorBoard(folder: string): Promise<Logger> {
  checkArguments("log to TensorBoard", { folder }, { folder: "path" });
  await makeFolder(folder);
  const now = () => Date.now() / 1000;
  const path = join(folder, `events.out.tfevents.${Math.floor(now())}.${processId}.arpo-lab`);
  const version = [...fixed(1, 8, now()), ...text(3, "brain.Event:2")];
  await appendDurably(path, record(Uint8Array.from(version)));
  return {
    name: "tensorboard",
    log: (step, metrics) => appendDurably(path, scalarEvent(now(), step, metrics)),
  };
}

/** Event files in the run's folder. */
export const tensorBoardDefinition = defineLogger({
  name: "tensorboard",
  open: ({ folder }) => tensorBoard(join(folder, "tensorboard")),
});
