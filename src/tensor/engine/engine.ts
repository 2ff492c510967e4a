/** Float32 storage that the engine owns: a typed array, or a place in wasm memory. */
export type Floats = Float32Array | { readonly pointer: number; readonly length: number };

/** What an engine function takes. Which of them it writes to is part of its C++ signature. */
export type EngineArgument =
  | number
  | boolean
  | null
  | undefined
  | Floats
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint16Array
  | Uint8Array;

/** One function of native/src/exports.h; one without a result gives undefined as number. */
export type EngineFunction = (...args: EngineArgument[]) => number;

/** The compiled engine, as the addon or as wasm: the same C++ functions under the same names. */
export interface Engine {
  readonly kind: "native" | "wasm";
  /** The instruction set that was picked: avx512, avx2, sse2, neon, simd128 ... */
  readonly isa: string;
  /** Every function listed in native/src/exports.h. */
  readonly call: Readonly<Record<string, EngineFunction>>;
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
