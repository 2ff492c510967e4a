import type { loadPyodide } from "pyodide";
import { commonImports, harden, struckNames } from "./harden.js";
import { harness } from "./harness.js";
import { type EmscriptenFS, type SameBytes, snapshotFiles } from "./memory-files.js";
import type { ChildReply, ChildRequest } from "./protocol.js";
import { watchCalls } from "./watched-calls.js";

type Load = typeof loadPyodide;

/** What an interpreter needs of where it runs. */
interface InterpreterHost {
  /** Starts Pyodide; what it loads is the host's business. */
  load: (options: Parameters<Load>[0]) => ReturnType<Load>;
  /** A zip that Python imports from. */
  packages?: Uint8Array;
  /** A module that is imported ahead. */
  preload?: string;
  memoryBytes: number;
  /** The names of globals that ECMAScript defines. */
  language: ReadonlySet<string>;
  sameBytes: SameBytes;
}

/** One Pyodide that answers one call at a time. */
interface Interpreter {
  /** Throws where the interpreter itself broke: it is done for then. */
  answer(request: ChildRequest): ChildReply;
  /** Puts memory and files back to what they were before the first call. */
  restore(): void;
}

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
    const capacity = Math.min(bytes.length, this.limit - this.#kept);
    if (capacity > 0) this.#chunks.push(bytes.slice(0, capacity));
    this.#kept += Math.max(0, capacity);
    this.total += bytes.length;
    return bytes.length;
  };

  text(decoder: TextDecoder): string {
    const whole = new Uint8Array(this.#kept);
    let at = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return decoder.decode(whole);
  }
}

interface Emscripten {
  HEAPU8: Uint8Array;
  FS: EmscriptenFS;
  _emscripten_stack_get_end(): number;
  _emscripten_stack_get_base(): number;
}

const pageBytes = 65536;

/** Emscripten reports a refused growth to malloc, which Python turns into MemoryError. */
function limitMemory(memoryBytes: number): void {
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number) {
    if (this.buffer.byteLength + pages * pageBytes > memoryBytes) {
      throw new RangeError("Cannot grow the memory: the limit of this worker is reached");
    }
    return grow.call(this, pages);
  };
}

/**
 * Starts one Pyodide and takes from it, and from the realm that it runs in, what leads out: whoever calls
 * this gives the whole realm away.
 *
 * After every call the interpreter's whole memory and file system are put back to what they were
 * before the first one, descriptors, times and numbers included. So nothing survives a call - no variable, no patched
 * module, no file - and the same code gives the same text however many calls went before. A call that changed what
 * cannot be put back is the last one of its interpreter.
 */
export async function startInterpreter(host: InterpreterHost): Promise<Interpreter> {
  limitMemory(host.memoryBytes);
  const calls = watchCalls();
  const python = await host.load({
    env: { HOME: "/tmp", PYTHONHASHSEED: "0", LANG: "C.UTF-8", PYTHONUTF8: "1" },
    stdin: () => null as unknown as string,
  });
  const emscripten = (python as unknown as { _module: Emscripten })._module;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const now = performance.now.bind(performance);
  const out = new Sink();
  const err = new Sink();
  python.setStdout({ write: out.write });
  python.setStderr({ write: err.write });

  if (host.packages !== undefined) {
    python.FS.writeFile("/lib/packages.zip", host.packages);
    python.runPython("import sys; sys.path.append('/lib/packages.zip'); del sys");
  }
  python.runPython(harness, { filename: "<harness>" });
  const run = python.globals.get("arpo_run") as (code: string) => number;
  const preprocess = python.globals.get("arpo_preprocess") as (code: string) => string;
  if (host.preload) python.runPython(`import ${host.preload}`);

  let deadline = Infinity;
  let interrupted = false;
  // CPython reads this between byte codes, and 2 is SIGINT. It is said once: code that goes on
  // nevertheless is killed from outside.
  python.setInterruptBuffer({
    get 0() {
      if (interrupted || now() <= deadline) return 0;
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
  leaveOnlyTheLanguage(host.language);
  calls.learn();
  run(commonImports); // Whatever the first call sets up is part of the picture as well.

  const files = snapshotFiles(emscripten.FS, host.sameBytes);
  const memory = lastUsed(emscripten.HEAPU8.slice());
  const stack = {
    from: emscripten._emscripten_stack_get_end(),
    to: emscripten._emscripten_stack_get_base(),
  };

  /** Puts memory and files back. Between calls the stack is empty: 10 MB that need no copying. */
  function putBack(): void {
    const heap = emscripten.HEAPU8;
    heap.set(memory.subarray(0, stack.from));
    heap.set(memory.subarray(stack.to), stack.to);
    heap.fill(0, memory.length);
    files.restore();
  }

  function answer(request: ChildRequest): ChildReply {
    const { id } = request;
    calls.watch();
    out.reset(request.outputBytes);
    err.reset(request.outputBytes);
    if (request.kind === "preprocess") return { id, text: preprocess(request.code) };
    interrupted = false;
    deadline = now() + request.timeoutMs;
    const status = run(request.code);
    const late = now() > deadline;
    deadline = Infinity;
    return {
      ...{ id, status, late },
      ...{ out: out.text(decoder), outTotal: out.total },
      ...{ err: err.text(decoder), errTotal: err.total },
    };
  }

  return {
    answer(request) {
      const reply = answer(request);
      // Memory never shrinks: a worker that grew much says goodbye, and a fresh one takes its place.
      const grew = emscripten.HEAPU8.length > 3 * memory.length;
      // Only reading code runs none of it.
      const ran = request.kind === "run";
      return { ...reply, retiring: grew || (ran && calls.remembering() !== undefined) };
    },
    restore: putBack,
  };
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
  const view = heap.subarray(0, 8 << 20);
  const encoder = new TextEncoder();
  const literals = names.map((name) => encoder.encode(`${name}\0`));
  const isAt = (literal: Uint8Array, at: number) =>
    literal.every((byte, i) => view[at + i] === byte);
  for (let at = 1; at < view.length; at++) {
    if (view[at - 1] !== 0 || view[at] === 0) continue;
    const first = view[at];
    for (const literal of literals) {
      if (literal[0] === first && isAt(literal, at)) {
        view[at] = 0xff;
        break;
      }
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
function leaveOnlyTheLanguage(language: ReadonlySet<string>): void {
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
  const taken = (owner: object) => {
    for (const name of Object.getOwnPropertyNames(owner)) {
      if (!language.has(name)) Reflect.deleteProperty(owner, name);
    }
  };
  taken(globalThis);
  // A worker's global has what it may do on the objects that it is made from, up to the language's own.
  for (
    let from: object | null = Object.getPrototypeOf(globalThis) as object | null;
    from !== null && from !== Object.prototype;
    from = Object.getPrototypeOf(from) as object | null
  ) {
    taken(from);
  }
  for (const [name, value] of Object.entries(kept)) {
    Object.defineProperty(globalThis, name, { value });
  }
}
