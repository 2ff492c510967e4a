import { defined } from "../../../common/options/defined.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { appendDurably, makeFolder, writeDurably } from "../../../common/files/durable.js";
import { hostname } from "#platform/process";
import { join } from "#platform/path";
import { randomUUID } from "#platform/uuid";
import { crc32 } from "#platform/zip";
import { defineLogger } from "./definition.js";
import type { Logger } from "./logger.js";
import { field, text, whole } from "./protobuf.js";

// An offline run as wandb writes it: a LevelDB log (blocks of 32 KiB; a record that does not fit is cut
// into pieces) of protobuf messages. The field numbers are those of wandb_internal.proto: Record { num
// = 1, history = 2, config = 5, run = 17, exit = 18, header = 21 }.

const blockSize = 32 * 1024;
const pieceHead = 7;
const fileHead = Uint8Array.of(0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0); // ":W&B", magic, version

const [whole1, first2, middle3, last4] = [1, 2, 3, 4];

/** One record as the log stores it behind `offset` bytes. */
function logRecord(data: Uint8Array, offset: number): Uint8Array {
  const out: number[] = [];
  let rest = data;
  let started = false;
  do {
    let capacity = blockSize - ((offset + out.length) % blockSize);
    if (capacity < pieceHead) {
      for (let i = 0; i < capacity; i++) out.push(0);
      capacity = blockSize;
    }
    const piece = rest.subarray(0, capacity - pieceHead);
    rest = rest.subarray(piece.length);
    const done = rest.length === 0;
    const type = started ? (done ? last4 : middle3) : done ? whole1 : first2;
    started = true;
    const head = new DataView(new ArrayBuffer(pieceHead));
    head.setUint32(0, crc32(piece, crc32(Uint8Array.of(type))), true);
    head.setUint16(4, piece.length, true);
    head.setUint8(6, type);
    for (const byte of new Uint8Array(head.buffer)) out.push(byte);
    for (const byte of piece) out.push(byte);
  } while (rest.length > 0);
  return Uint8Array.from(out);
}

/** A key and its value as JSON; a key of metrics stands in a list, that of a configuration alone. */
const item = (key: number, name: string, value: unknown) => [
  ...text(key, name),
  ...text(16, JSON.stringify(value)),
];

const stamp = (date: Date) =>
  date
    .toISOString()
    .replace(/[-:]|\..*/g, "")
    .replace("T", "_");

/**
 * A logger that writes an offline run of Weights & Biases below `FOLDER/wandb`, which `wandb sync`
 * uploads. It needs neither an account nor a network. What is in it: the configuration, every metric
 * with its step, start and end. What is not: system metrics, console output, files, tables of answers.
 * A resumed run is a run of its own, as for wandb itself, under the same id.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readdir, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { wandbLogger } from "arpo-lab/run";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const logger = await wandbLogger({ folder, project: "p", run: "r", config: {}, id: "abc" });
 * await logger.log(1, { "critic/score/mean": 0.5 });
 * await logger.close?.("finished");
 * assert.match((await readdir(`${folder}/wandb`))[0], /^offline-run-\d+_\d+-abc$/);
 * await rm(folder, { recursive: true });
 * ```
 */
export async function wandbLogger(options: {
  /** The offline run is written into the folder `wandb` in it. */
  folder: string;
  /** The project's name. */
  project: string;
  /** The run's name. */
  run: string;
  /** The configuration, shown beside the run. */
  config: Readonly<Record<string, unknown>>;
  /** Runs of one group are shown together. Default: none. */
  group?: string;
  /** Default: random. */
  id?: string;
  /** The clock. Default: the system's. */
  now?: () => Date;
}): Promise<Logger> {
  checkOptions("log to W&B", options, {
    folder: "path",
    project: "text",
    run: "text",
    config: "object",
    group: "text?",
    id: "text?",
    now: "function?",
  });
  const { now = () => new Date(), id = randomUUID().slice(0, 8) } = options;
  const began = now();
  const folder = join(options.folder, "wandb", `offline-run-${stamp(began)}-${id}`);
  await makeFolder(join(folder, "files"));
  const path = join(folder, `run-${id}.wandb`);
  await writeDurably(path, fileHead);
  let size = fileHead.length;
  let count = 0;
  const write = async (message: number[]) => {
    const bytes = logRecord(Uint8Array.from([...whole(1, ++count), ...message]), size);
    await appendDurably(path, bytes);
    size += bytes.length;
  };
  const time = [
    ...whole(1, Math.floor(began.getTime() / 1000)),
    ...whole(2, (began.getTime() % 1000) * 1e6),
  ];
  await write(field(21, field(1, [...text(1, "arpo-lab"), ...text(2, "0.13.0")])));
  await write(
    field(17, [
      ...text(1, id),
      ...text(3, options.project),
      ...field(
        4,
        Object.entries(options.config).flatMap(([key, value]) => field(1, item(1, key, value))),
      ),
      ...(options.group === undefined ? [] : text(6, options.group)),
      ...text(8, options.run),
      ...text(13, hostname()),
      ...field(17, time),
    ]),
  );
  return {
    name: "wandb",
    log: async (step, metrics) => {
      const seconds = now().getTime() / 1000;
      const row = {
        ...metrics,
        _timestamp: seconds,
        _runtime: seconds - began.getTime() / 1000,
        _step: step,
      };
      // JSON knows no NaN; wandb reads it as this text.
      const items = Object.entries(row).flatMap(([key, value]) =>
        field(1, item(2, key, Number.isFinite(value) ? value : String(value))),
      );
      await write(field(2, [...items, ...field(2, whole(1, step))]));
    },
    close: (outcome) => write(field(18, outcome === "failed" ? whole(1, 1) : [])),
  };
}

/** An offline run of Weights & Biases. */
export const wandbDefinition = defineLogger({
  name: "wandb",
  words: "an offline run for `wandb sync`",
  open: ({ folder, project, run, config, group }) =>
    wandbLogger({ folder, project, run, config, ...defined({ group }) }),
});
