/** Float32 storage that the engine owns: a typed array, or a place in wasm memory. */
export type Floats = Float32Array | { readonly pointer: number; readonly length: number };
