// WebGPU's types under names of our own: public declarations must also compile where a reader's TypeScript lacks them.

/** A type of WebGPU; an object where the reader's compiler has none of its own. */
type Known<Name extends string> =
  typeof globalThis extends Record<Name, { prototype: infer Type }> ? Type : object;

export type Device = Known<"GPUDevice">;
export type DeviceBuffer = Known<"GPUBuffer">;
/** A part of a buffer that a shader reads or writes. */
export interface Binding {
  buffer: DeviceBuffer;
  offset?: number;
  size?: number;
}
export type ComputePass = Known<"GPUComputePassEncoder">;
