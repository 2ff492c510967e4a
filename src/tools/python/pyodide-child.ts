/**
 * A worker process: one Pyodide, one call at a time, as JSON lines over standard input and output.
 */
import { Buffer } from "node:buffer";
import { constants, readFileSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { packing } from "./packing.js";
import { startInterpreter } from "./interpreter.js";
import type { ChildReady, ChildReply, ChildRequest } from "./protocol.js";

const settings = JSON.parse(process.argv[2] ?? "{}") as {
  indexURL: string;
  /** Python's library with its modules compiled; else Pyodide's own, of sources. */
  library?: string;
  packages?: string;
  preload?: string;
  memoryBytes: number;
  /** Only writes the compiled library to standard output. */
  packs?: boolean;
};
const exit: (status: number) => never = process.exit.bind(process);

// Emscripten's host file system, never mounted here, reads these constants in a way that Node's
// permission model refuses.
Object.defineProperty(process, "binding", { value: () => ({ fs: constants }) });

// By its place: by name it would be looked for through links (pnpm's, npm link's) that may not be read.
const place = pathToFileURL(join(settings.indexURL, "pyodide.mjs")).href;
const { loadPyodide }: typeof import("pyodide") = await import(place);

const { indexURL, library, packages, preload, memoryBytes } = settings;
if (settings.packs === true) {
  const python = await loadPyodide({ indexURL });
  python.runPython(packing);
  writeAll(python.FS.readFile("/tmp/library.zip") as Uint8Array);
  exit(0);
}
const interpreter = await startInterpreter({
  load: (options) => loadPyodide({ ...options, indexURL, ...(library && { stdLibURL: library }) }),
  ...(packages === undefined ? {} : { packages: readFileSync(packages) }),
  preload,
  memoryBytes,
  language: new Set(runInNewContext("Object.getOwnPropertyNames(globalThis)") as Iterable<string>),
  sameBytes: (one, other) => Buffer.compare(one, other) === 0,
});

function send(message: ChildReady | ChildReply): void {
  writeAll(Buffer.from(`${JSON.stringify(message)}\n`));
}

function writeAll(bytes: Uint8Array): void {
  for (let sent = 0; sent < bytes.length;) {
    try {
      sent += writeSync(1, bytes, sent);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}

/** Waits for a line; blocking is right here, the process has nothing else to do. */
function* lines(): Generator<string> {
  const buffer = Buffer.alloc(65536);
  let pending: Buffer[] = [];
  for (;;) {
    let count = 0;
    try {
      count = readSync(0, buffer);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") continue;
      throw error;
    }
    if (count === 0) return;
    let from = 0;
    for (let at = buffer.indexOf(10); at >= 0 && at < count; at = buffer.indexOf(10, from)) {
      pending.push(Buffer.from(buffer.subarray(from, at)));
      yield Buffer.concat(pending).toString("utf8");
      pending = [];
      from = at + 1;
    }
    if (from < count) pending.push(Buffer.from(buffer.subarray(from, count)));
    buffer.fill(0);
  }
}

send({ ready: true, version: "" });
for (const line of lines()) {
  let reply: ChildReply;
  try {
    reply = interpreter.answer(JSON.parse(line) as ChildRequest);
  } catch (error) {
    // The interpreter itself broke (a stack overflow in C, a trap): this process is done for.
    send({ id: -1, fatal: String(error) });
    exit(3);
  }
  send(reply);
  if (reply.retiring) exit(0);
  try {
    interpreter.restore();
  } catch (error) {
    send({ id: -1, fatal: String(error), isIdle: true });
    exit(3);
  }
}
