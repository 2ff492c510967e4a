import { Programs } from "../../src/tensor/gpu/programs.js";
import { matmul, TILE } from "../../src/tensor/gpu/wgsl/matmul.js";
import type { StoredType } from "../../src/tensor/gpu/wgsl/stored.js";

/** What a card does by its own measure: flops a second of large products, bytes a second of a copy. */
export interface CardRates {
  flops: number;
  /** The same with one side in halves, which are widened on their way; sums are of float32. */
  halves: number;
  bandwidth: number;
}

/** The shortest of several runs, in seconds. */
async function shortest(device: GPUDevice, record: (encoder: GPUCommandEncoder) => void) {
  let best = Infinity;
  // The first run makes the pipeline.
  for (let i = 0; i < 6; i++) {
    const encoder = device.createCommandEncoder();
    record(encoder);
    const began = performance.now();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    best = Math.min(best, (performance.now() - began) / 1000);
  }
  return best;
}

/** Products of square matrices by our own kernel, which is what models can have; and a device's copy. */
export async function cardRates(device: GPUDevice, size: number): Promise<CardRates> {
  const programs = new Programs(device);
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const [a, b, c] = [0, 1, 2].map(() => device.createBuffer({ size: 4 * size * size, usage })) as [
    GPUBuffer,
    GPUBuffer,
    GPUBuffer,
  ];
  const product = (stored: StoredType) => (encoder: GPUCommandEncoder) => {
    const pass = encoder.beginComputePass();
    programs.record(pass, {
      program: matmul({
        parts: 1,
        along: "columns",
        aTransposed: false,
        bTransposed: true,
        stored,
      }),
      buffers: [a, b, c].map((buffer) => ({ buffer })),
      numbers: {
        whole: [size, size, size, size, 0, 0, 0, 0, 0, size, size, size],
        fractions: [1],
      },
      groups: [Math.ceil(size / TILE), Math.ceil(size / TILE)],
    });
    pass.end();
    programs.flush();
  };
  const seconds = await shortest(device, product("float32"));
  const halved = await shortest(device, product("float16"));
  const copies = 16;
  const copying = await shortest(device, (encoder) => {
    for (let i = 0; i < copies; i++) encoder.copyBufferToBuffer(a, 0, b, 0, a.size);
  });
  for (const buffer of [a, b, c]) buffer.destroy();
  programs.dispose();
  return {
    flops: (2 * size ** 3) / seconds,
    halves: (2 * size ** 3) / halved,
    bandwidth: (2 * copies * 4 * size * size) / copying,
  };
}
