import { requirePackage } from "#platform/optional";
import { Arena } from "./arena.js";
import { checkSignatures } from "./check-signatures.js";
import type { Engine } from "./engine.js";
import type { EngineFunctions } from "./engine-functions.js";
import { addonName, findAddon } from "./find-addon.js";
import type { Floats } from "./floats.js";
import { FloatPool } from "./float-pool.js";

const addon = findAddon();

/** Arrays of at least this many floats come from slabs. */
const LARGE = 8192;

/** Whether there is an addon for this machine. */
export function nativeEngineExists(): boolean {
  return addon !== undefined;
}

/** Loads the C++ addon; throws where there is none or it does not load. */
export function loadNativeEngine(): Engine {
  if (addon === undefined)
    throw new Error(`Cannot load the native engine: there is no addon for ${addonName()} here`);
  const { isa, signatures, map_file, forget_file, map_memory, address_of, ...call } =
    requirePackage(addon) as {
      isa: string;
      signatures: Record<string, string>;
      map_file: (path: string) => ArrayBuffer | null;
      forget_file: (file: ArrayBuffer) => void;
      map_memory: (bytes: number) => ArrayBuffer | null;
      address_of: (array: Float32Array) => number;
    } & EngineFunctions;
  checkSignatures("native", signatures);
  const pool = new FloatPool();
  const arena = new Arena((bytes) => map_memory(bytes) ?? new ArrayBuffer(bytes));
  const allocate = (length: number) => (length < LARGE ? pool : arena).allocate(length);
  const array = (floats: Floats) => floats as Float32Array;
  return {
    kind: "native",
    isa,
    call,
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
