import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Engine, EngineFunction, Floats } from "./engine.js";
import { FloatPool } from "./float-pool.js";

const addon = fileURLToPath(new URL("../../../../native/build/arpo.node", import.meta.url));

/** Whether the addon was built. */
export function nativeEngineExists(): boolean {
  return existsSync(addon);
}

/** Loads the C++ addon; throws where it was not built or does not load. */
export function loadNativeEngine(): Engine {
  const { isa, signatures, map_file, forget_file, ...functions } = createRequire(import.meta.url)(
    addon,
  ) as {
    isa: string;
    signatures: Record<string, string>;
    map_file: (path: string) => ArrayBuffer | null;
    forget_file: (file: ArrayBuffer) => void;
  } & Record<string, EngineFunction>;
  const pool = new FloatPool();
  const array = (floats: Floats) => floats as Float32Array;
  return {
    kind: "native",
    isa,
    call: Object.fromEntries(Object.keys(signatures).map((name) => [name, functions[name]!])),
    allocate: (length) => pool.allocate(length),
    release: (floats) => pool.release(array(floats)),
    read: (floats) => array(floats).slice(),
    upload(values) {
      const floats = pool.allocate(values.length);
      floats.set(values);
      return floats;
    },
    map: map_file,
    forget: forget_file,
    memory: () => pool.memory(),
  };
}
