import { readFileSync } from "#platform/files";
import { cores, environment, sharesMemory } from "#platform/process";
import { packagePath, startThread } from "#platform/modules";
import { checkSignatures, type EngineFunctions, type Floats } from "./engine-functions.js";
import type { Engine } from "./engine.js";
import { hasRelaxedSimd, type WasmBuild, wasmBuilds } from "./wasm-builds.js";

const stackBytes = 1 << 20;

export interface WasmExports {
  __stack_pointer: WebAssembly.Global;
  __indirect_function_table: WebAssembly.Table;
  arpo_table(): number;
  arpo_alloc(bytes: number): number;
  arpo_free(pointer: number): void;
  arpo_worker(thread: number): void;
  /** Said before a thread throws out of the engine. */
  arpo_pool_abandon(thread: number, bytes: number): void;
}

/** What a worker of the wasm engine is given. */
export interface WasmThread {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  thread: number;
  /** The top of a stack of its own. */
  stack: number;
}

type NumberArray =
  Float32Array | Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;
type EngineArgument = number | boolean | null | undefined | Floats | NumberArray;

const mostPages = [65536, 32768, 16384];

/** Shared memory that can grow to 4 GB, or to less where the system does not have that to promise. */
function makeMemory(most: readonly number[]): WebAssembly.Memory {
  let refused: unknown;
  for (const maximum of most) {
    try {
      return new WebAssembly.Memory({ initial: 64, maximum, shared: true });
    } catch (error) {
      refused = error;
    }
  }
  throw refused;
}

function wantedThreads(): number {
  if (!sharesMemory()) return 1;
  const asked = Number(environment.ARPO_LAB_THREADS);
  return Math.min(64, Number.isInteger(asked) && asked >= 1 ? asked : cores());
}

/** Loads a build of the engine and starts its threads. Its memory grows to the first of `pages` that can be promised. */
export function loadWasmEngine(build: WasmBuild = "wasm", pages = mostPages): Engine {
  if (build === "wasm-relaxed" && !hasRelaxedSimd()) {
    throw new Error(
      "Cannot compute: wasm-relaxed must run where WebAssembly has relaxed SIMD, as in Node 22 and Chrome; " +
        "got a version without it, where wasm works",
    );
  }
  const { file, isa } = wasmBuilds[build];
  const module = new WebAssembly.Module(readFileSync(packagePath(file)));
  const memory = makeMemory(pages);
  const outOfMemory = (bytes: number) => {
    exports.arpo_pool_abandon(0, bytes);
    throw new RangeError(
      `Cannot compute: the wasm engine must fit in ${memory.buffer.byteLength} bytes ` +
        `or what it can still grow by, got a request for ${bytes} more`,
    );
  };
  const instance = new WebAssembly.Instance(module, {
    env: { memory, out_of_memory: outOfMemory },
  });
  const exports = instance.exports as unknown as WasmExports;
  const stackTop = exports.__stack_pointer.value as number;
  let bytes = new Uint8Array(memory.buffer);
  /** All of memory; the view is made again when it has grown. */
  const all = () => {
    if (bytes.buffer !== memory.buffer) bytes = new Uint8Array(memory.buffer);
    return bytes;
  };

  /** Copies a JavaScript array in; what was written is copied back by `give`. */
  function lend(array: NumberArray): number {
    const pointer = exports.arpo_alloc(array.byteLength);
    all().set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), pointer);
    return pointer;
  }
  function give(array: NumberArray, pointer: number, written: boolean): void {
    if (!written) return;
    const result = all().subarray(pointer, pointer + array.byteLength);
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(result);
  }

  function wrap(name: string, signature: string, raw: (...args: number[]) => number) {
    const kinds = [...signature.slice(1)];
    return (...args: EngineArgument[]) => {
      if (args.length < kinds.length) {
        throw new TypeError(`Cannot call ${name}: argument ${args.length + 1} must be given`);
      }
      const lent: [NumberArray, number, boolean][] = [];
      try {
        const numbers = kinds.map((kind, i) => {
          const value = args[i];
          if ("ifd".includes(kind)) {
            if (typeof value === "number" || typeof value === "boolean") return Number(value);
            throw new TypeError(`Cannot call ${name}: argument ${i + 1} must be a number`);
          }
          if (value === null || value === undefined) return 0;
          if (typeof value !== "object") {
            throw new TypeError(`Cannot call ${name}: argument ${i + 1} must be an array`);
          }
          if ("pointer" in value) return value.pointer;
          const pointer = lend(value);
          lent.push([value, pointer, kind === kind.toUpperCase()]);
          return pointer;
        });
        const result = raw(...numbers);
        for (const [array, pointer, written] of lent) give(array, pointer, written);
        return result;
      } catch (error) {
        // An error leaves the engine's calls without their ends.
        exports.__stack_pointer.value = stackTop;
        throw error;
      } finally {
        for (const [, pointer] of lent) exports.arpo_free(pointer);
      }
    };
  }

  /** Reads the table of exports.h: name, signature, function; a null name ends it. */
  function readTable(): EngineFunctions {
    const words = new Uint32Array(memory.buffer);
    const text = (pointer: number) => {
      let end = pointer;
      while (all()[end] !== 0) end++;
      return String.fromCharCode(...all().subarray(pointer, end));
    };
    const calls: Record<string, unknown> = {};
    const signatures: Record<string, string> = {};
    for (let at = exports.arpo_table() / 4; words[at] !== 0; at += 3) {
      const name = text(words[at]!);
      const raw = exports.__indirect_function_table.get(words[at + 2]!) as () => number;
      signatures[name] = text(words[at + 1]!);
      calls[name] = wrap(name, signatures[name], raw);
    }
    checkSignatures("wasm", signatures);
    return calls as unknown as EngineFunctions;
  }

  const call = readTable();
  const threads = wantedThreads();
  call.set_threads(threads);
  for (let thread = 1; thread < threads; thread++) {
    const stack = exports.arpo_alloc(stackBytes) + stackBytes;
    const data: WasmThread = { module, memory, thread, stack };
    startThread("dist/src/tensor/engine/wasm-worker.js", data);
  }

  let used = 0;
  const place = (floats: Floats) => floats as { pointer: number; length: number };
  const view = (floats: Floats) => {
    const { pointer, length } = place(floats);
    return new Float32Array(all().buffer, pointer, length);
  };
  const allocate = (length: number): Floats => {
    const pointer = exports.arpo_alloc(length * 4);
    used += length * 4;
    return { pointer, length };
  };
  return {
    kind: "wasm",
    isa,
    call,
    allocate,
    release(floats) {
      used -= floats.length * 4;
      exports.arpo_free(place(floats).pointer);
    },
    address: (floats) => place(floats).pointer,
    read: (floats) => Float32Array.from(view(floats)),
    upload(values) {
      const floats = allocate(values.length);
      view(floats).set(values);
      return floats;
    },
    memory: () => ({ used, idle: memory.buffer.byteLength - used }),
  };
}
