/**
 * A worker process: one Pyodide, one call at a time, as JSON lines over standard input and output.
 *
 * After every call the interpreter's whole memory and file system are put back to what they were
 * before the first one. So nothing survives a call - no variable, no patched module, no file - and
 * the same code gives the same text however many calls went before.
 */
import { Buffer } from "node:buffer";
import { constants, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { harden, lateImports, struckNames } from "./harden.js";
import { harness } from "./harness.js";
import { snapshotFiles, type EmscriptenFS } from "./memory-files.js";
import type { ChildReady, ChildReply, ChildRequest } from "./protocol.js";

const settings = JSON.parse(process.argv[2] ?? "{}") as {
  indexURL: string;
  packages?: string;
  preload?: string;
  memoryBytes: number;
};
const exit: (status: number) => never = process.exit.bind(process);

// Emscripten's host file system, never mounted here, reads these constants in a way that Node's
// permission model refuses.
Object.defineProperty(process, "binding", { value: () => ({ fs: constants }) });

// By its place: by name it would be looked for through links (pnpm's, npm link's) that may not be read.
const place = pathToFileURL(join(settings.indexURL, "pyodide.mjs")).href;
const { loadPyodide }: typeof import("pyodide") = await import(place);

const pageBytes = 65536;
const grow = WebAssembly.Memory.prototype.grow;
// Emscripten reports a refused growth to malloc, which Python turns into MemoryError.
WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number) {
  if (this.buffer.byteLength + pages * pageBytes > settings.memoryBytes) {
    throw new RangeError("Cannot grow the memory: the limit of this worker is reached");
  }
  return grow.call(this, pages);
};

/** Keeps the first `limit` bytes of a stream and counts the rest. */
class Sink {
  #chunks: Uint8Array[] = [];
  #kept = 0;
  total = 0;
  limit = 0;

  reset(limit: number): void {
    this.#chunks = [];
    this.#kept = this.total = 0;
    this.limit = limit;
  }

  readonly write = (bytes: Uint8Array): number => {
    const room = Math.min(bytes.length, this.limit - this.#kept);
    if (room > 0) this.#chunks.push(bytes.slice(0, room));
    this.#kept += Math.max(0, room);
    this.total += bytes.length;
    return bytes.length;
  };

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}

const python = await loadPyodide({
  indexURL: settings.indexURL,
  env: { HOME: "/tmp", PYTHONHASHSEED: "0", LANG: "C.UTF-8", PYTHONUTF8: "1" },
  stdin: () => null as unknown as string,
});
interface Emscripten {
  HEAPU8: Uint8Array;
  FS: EmscriptenFS;
  _emscripten_stack_get_end(): number;
  _emscripten_stack_get_base(): number;
}
const emscripten = (python as unknown as { _module: Emscripten })._module;
const out = new Sink();
const err = new Sink();
python.setStdout({ write: out.write });
python.setStderr({ write: err.write });

if (settings.packages !== undefined) {
  const { readFileSync } = await import("node:fs");
  python.FS.writeFile("/lib/packages.zip", readFileSync(settings.packages));
  python.runPython("import sys; sys.path.append('/lib/packages.zip'); del sys");
}
python.runPython(harness, { filename: "<harness>" });
const run = python.globals.get("arpo_run") as (code: string) => number;
const preprocess = python.globals.get("arpo_preprocess") as (code: string) => string;
if (settings.preload) python.runPython(`import ${settings.preload}`);

let deadline = Infinity;
let interrupted = false;
// CPython reads this between byte codes, and 2 is SIGINT. It is said once: code that goes on
// nevertheless is killed from outside.
python.setInterruptBuffer({
  get 0() {
    if (interrupted || performance.now() <= deadline) return 0;
    interrupted = true;
    return 2;
  },
  set 0(_) {
    // CPython acknowledges a signal by writing 0.
  },
} as unknown as Uint8Array);
python.runPython(harden, { filename: "<harness>" });
// Called as a function: it empties the modules that run scripts.
(python.globals.get("arpo_harden") as () => void)();
strike(emscripten.HEAPU8, struckNames);

unlink();
leaveOnlyTheLanguage();
run("None"); // So that whatever the first call sets up is part of the picture.

let files = snapshotFiles(emscripten.FS);
let memory = lastUsed(emscripten.HEAPU8.slice());
let settled = false;
const stack = {
  from: emscripten._emscripten_stack_get_end(),
  to: emscripten._emscripten_stack_get_base(),
};

/** Puts memory and files back. Between calls the stack is empty: 10 MB that need no copying. */
function restore(): void {
  const heap = emscripten.HEAPU8;
  heap.set(memory.subarray(0, stack.from));
  heap.set(memory.subarray(stack.to), stack.to);
  heap.fill(0, memory.length);
  files.restore();
}

/** Takes the picture anew with more modules loaded. */
function settle(): void {
  settled = true;
  run(lateImports);
  files = snapshotFiles(emscripten.FS);
  memory = lastUsed(emscripten.HEAPU8.slice());
}

/** Cuts the untouched end off, which is put back by filling in zeros. */
function lastUsed(bytes: Uint8Array): Uint8Array {
  const words = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
  const bits = new BigUint64Array(words.buffer, words.byteOffset, words.length);
  let end = bits.length;
  while (end > 0 && bits[end - 1] === 0n) end--;
  return bytes.subarray(0, end * 8);
}

/**
 * Overwrites names in the interpreter's static tables, with a byte that no Python string equals: any
 * other letter would only give the thing another name.
 */
function strike(heap: Uint8Array, names: readonly string[]): void {
  const view = Buffer.from(heap.buffer, heap.byteOffset, Math.min(heap.byteLength, 8 << 20));
  for (const name of names) {
    const literal = Buffer.from(`\0${name}\0`);
    for (let at = view.indexOf(literal); at >= 0; at = view.indexOf(literal, at + 1)) {
      view[at + 1] = 0xff;
    }
  }
}

/** Takes the linker's tools: from here on no WebAssembly is compiled or instantiated. */
function unlink(): void {
  const noLinker = function (): never {
    throw new Error("Cannot load a shared library: this sandbox has no linker");
  };
  const tools = WebAssembly as unknown as Record<string, unknown>;
  for (const name of ["Module", "Instance"]) {
    const { prototype } = tools[name] as { prototype: object };
    Object.defineProperty(prototype, "constructor", { value: noLinker });
    tools[name] = noLinker;
  }
  for (const name of [
    "compile",
    "instantiate",
    "validate",
    "compileStreaming",
    "instantiateStreaming",
  ]) {
    Reflect.deleteProperty(tools, name);
  }
}

/** Removes every global that ECMAScript does not define, but for the four that Emscripten uses. */
function leaveOnlyTheLanguage(): void {
  const now = performance.now.bind(performance);
  const getRandomValues = crypto.getRandomValues.bind(crypto);
  const silent = () => undefined;
  const kept: Record<string, unknown> = {
    TextDecoder,
    TextEncoder,
    performance: Object.freeze({ now: () => now() }),
    crypto: Object.freeze({ getRandomValues: (a: Uint8Array<ArrayBuffer>) => getRandomValues(a) }),
    console: Object.freeze({ log: silent, warn: silent, error: silent }),
  };
  const language = new Set(
    runInNewContext("Object.getOwnPropertyNames(globalThis)") as Iterable<string>,
  );
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!language.has(name)) Reflect.deleteProperty(globalThis, name);
  }
  for (const [name, value] of Object.entries(kept)) {
    Object.defineProperty(globalThis, name, { value });
  }
}

function answer(request: ChildRequest): ChildReply {
  out.reset(request.outputBytes);
  err.reset(request.outputBytes);
  if (request.kind === "preprocess") return { id: request.id, text: preprocess(request.code) };
  interrupted = false;
  deadline = performance.now() + request.timeoutMs;
  const status = run(request.code);
  const late = performance.now() > deadline;
  deadline = Infinity;
  return {
    id: request.id,
    status,
    late,
    out: out.text(),
    outTotal: out.total,
    err: err.text(),
    errTotal: err.total,
  };
}

function send(message: ChildReady | ChildReply): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
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
  let reply: ChildReply | undefined;
  try {
    reply = answer(JSON.parse(line) as ChildRequest);
  } catch (error) {
    // The interpreter itself broke (a stack overflow in C, a trap): this process is done for.
    send({ id: -1, fatal: String(error) });
    exit(3);
  }
  // Memory never shrinks: a worker that grew much says goodbye, and a fresh one takes its place.
  const retiring = emscripten.HEAPU8.length > 3 * memory.length;
  if (reply) send({ ...reply, retiring });
  if (retiring) exit(0);
  restore();
  if (!settled) settle();
}
