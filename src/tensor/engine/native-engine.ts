import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Arena } from "./arena.js";
import type { Engine, EngineFunction, Floats } from "./engine.js";
import { FloatPool } from "./float-pool.js";

const addon = fileURLToPath(new URL("../../../../native/build/arpo.node", import.meta.url));

/** Arrays of at least this many floats come from slabs. */
const LARGE = 8192;

/** Whether the addon was built. */
export function nativeEngineExists(): boolean {
  return existsSync(addon);
}

/** Loads the C++ addon; throws where it was not built or does not load. */
export function loadNativeEngine(): Engine {
  const { isa, signatures, map_file, forget_file, map_memory, address_of, ...functions } =
    createRequire(import.meta.url)(addon) as {
      isa: string;
      signatures: Record<string, string>;
      map_file: (path: string) => ArrayBuffer | null;
      forget_file: (file: ArrayBuffer) => void;
      map_memory: (bytes: number) => ArrayBuffer | null;
      address_of: (array: Float32Array) => number;
    } & Record<string, EngineFunction>;
  const pool = new FloatPool();
  const arena = new Arena((bytes) => map_memory(bytes) ?? new ArrayBuffer(bytes));
  const allocate = (length: number) => (length < LARGE ? pool : arena).allocate(length);
  const array = (floats: Floats) => floats as Float32Array;
  return {
    kind: "native",
    isa,
    call: Object.fromEntries(Object.keys(signatures).map((name) => [name, functions[name]!])),
    allocate,
    release(floats) {
      (arena.owns(array(floats)) ? arena : pool).release(array(floats));
    },
    address: (floats) => address_of(array(floats)),
    read: (floats) => array(floats).slice(),
    upload(values) {
      const floats = allocate(values.length);
      floats.set(values);
      return floats;
    },
    map: map_file,
    forget: forget_file,
    memory() {
      const [small, large] = [pool.memory(), arena.memory()];
      return { used: small.used + large.used, idle: small.idle + large.idle };
    },
  };
}
