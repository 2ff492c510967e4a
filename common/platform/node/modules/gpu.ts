/** Dawn for Node, which is there where somebody installed it; loading it defines WebGPU's globals. */
export async function openGpu(): Promise<GPU> {
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  return create([]) as unknown as GPU;
}

/** What a page would be told of the program that it is in. */
export const agent = (): string => `Node.js/${process.version}`;
