/**
 * The engine's two builds: `wasm` has the same bits on every machine; `wasm-relaxed` multiplies and adds in
 * one instruction with one rounding, where the processor has it: faster, with other last bits.
 */
export const wasmBuilds = {
  wasm: { file: "native/arpo.wasm", isa: "simd128" },
  "wasm-relaxed": { file: "native/arpo-relaxed.wasm", isa: "relaxed simd128" },
} as const;
export type WasmBuild = keyof typeof wasmBuilds;

/** A function of one f32x4.relaxed_madd. */
const oneMultiplyAdd = [
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x08, 0x01, 0x60, 0x03, 0x7b, 0x7b, 0x7b, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x0d, 0x01, 0x0b, 0x00, 0x20, 0x00, 0x20, 0x01, 0x20, 0x02, 0xfd, 0x85, 0x02, 0x0b],
];

/** Whether this Node or browser compiles relaxed SIMD. */
export const hasRelaxedSimd = (): boolean => WebAssembly.validate(Uint8Array.from(oneMultiplyAdd));
