import type { EngineFunctions, Floats } from "./engine-functions.js";

/** The compiled engine, as the addon or as wasm: the same C++ functions under the same names. */
export interface Engine {
  readonly kind: "native" | "wasm";
  /** The instruction set that was picked: avx512, avx2, sse2, neon, simd128 ... */
  readonly isa: string;
  /** Every function listed in native/src/exports.h. */
  readonly call: Readonly<EngineFunctions>;
  /** Storage with whatever was in it before. */
  allocate(length: number): Floats;
  /** Gives storage back; it may be handed out again at once. */
  release(floats: Floats): void;
  /** Where it is, for functions that take addresses. */
  address(floats: Floats): number;
  /** A copy for JavaScript. */
  read(floats: Floats): Float32Array;
  /** Storage with a copy of the values. */
  upload(values: Float32Array): Floats;
  /** A file's bytes, read from disk where they are looked at; nothing where that cannot be. */
  map?(path: string): ArrayBuffer | null;
  /** Gives back the memory of what was looked at of a mapped file; it is read again when needed. */
  forget?(file: ArrayBuffer): void;
  /** Bytes held for later use and bytes in use, by this storage. */
  memory(): { used: number; idle: number };
}
