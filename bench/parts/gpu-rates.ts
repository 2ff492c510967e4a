import { Programs } from "../../src/tensor/gpu/programs.js";
import { matmul, TILE } from "../../src/tensor/gpu/wgsl/matmul.js";
import type { StoredType } from "../../src/tensor/gpu/wgsl/stored.js";

/** What a GPU does at most, measured: operations (products and sums) per second, bytes per second. */
export interface CardRates {
  /** float32 products and sums of numbers that are in registers: the limit. */
  peak: number;
  /** A large product of matrices by the kernel that models use. */
  products: number;
  /** The same with one side stored in float16, which is dequantized on the way; sums are float32. */
  halves: number;
  /** Reading and writing of a copy that no cache holds. */
  bandwidth: number;
}

/** The fastest of several submits, in seconds. The first one also compiles the shader. */
async function fastest(device: GPUDevice, record: (encoder: GPUCommandEncoder) => void) {
  let best = Infinity;
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

const chains = 8;
/** Eight independent chains of four-wide products and sums in every thread. */
const peakShader = `
@group(0) @binding(0) var<storage, read_write> numbers: array<f32>;
override rounds: u32;
@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3u) {
  let factor = vec4f(numbers[0]);
  let term = vec4f(numbers[1]);
  ${Array.from({ length: chains }, (_, i) => `var c${i} = vec4f(f32(id.x + ${i}u));`).join("\n  ")}
  for (var i = 0u; i < rounds; i++) {
    ${Array.from({ length: chains }, (_, i) => `c${i} = fma(c${i}, factor, term);`).join("\n    ")}
  }
  let sum = ${Array.from({ length: chains }, (_, i) => `c${i}`).join(" + ")};
  numbers[id.x] = sum.x + sum.y + sum.z + sum.w;
}`;

async function peakRate(device: GPUDevice, groups: number, rounds: number): Promise<number> {
  const numbers = device.createBuffer({ size: groups * 256 * 4, usage: GPUBufferUsage.STORAGE });
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module: device.createShaderModule({ code: peakShader }), constants: { rounds } },
  });
  const bindings = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: { buffer: numbers } }],
  });
  const seconds = await fastest(device, (encoder) => {
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindings);
    pass.dispatchWorkgroups(groups);
    pass.end();
  });
  numbers.destroy();
  return (groups * 256 * rounds * chains * 4 * 2) / seconds;
}

/** Measures a GPU with square matrices of this width, each of which is also what is copied. */
export async function cardRates(device: GPUDevice, width: number): Promise<CardRates> {
  // A software adapter gets what it finishes in a second.
  const peak = width < 1024 ? await peakRate(device, 16, 256) : await peakRate(device, 4096, 4096);
  const programs = new Programs(device);
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const [a, b, c] = [0, 1, 2].map(() =>
    device.createBuffer({ size: 4 * width * width, usage }),
  ) as [GPUBuffer, GPUBuffer, GPUBuffer];
  // Enough of them that a submit and its answer are no part of the time.
  const times = width < 1024 ? 1 : 8;
  const product = (stored: StoredType) => (encoder: GPUCommandEncoder) => {
    const pass = encoder.beginComputePass();
    for (let i = 0; i < times; i++) {
      programs.record(pass, {
        program: matmul({
          ...{ parts: 1, along: "columns", aTransposed: false, bTransposed: true, stored },
        }),
        buffers: [a, b, c].map((buffer) => ({ buffer })),
        numbers: {
          whole: [width, width, width, width, 0, 0, 0, 0, 0, width, width, width],
          fractions: [1],
        },
        groups: [Math.ceil(width / TILE), Math.ceil(width / TILE)],
      });
    }
    pass.end();
    programs.flush();
  };
  const seconds = await fastest(device, product("float32"));
  const halved = await fastest(device, product("float16"));
  // Four copies among three buffers in a ring: at 4,096 wide that is 192 MiB, more than caches hold.
  const copies = 12;
  const ring = [a, b, c, a];
  const copying = await fastest(device, (encoder) => {
    for (let i = 0; i < copies; i++)
      encoder.copyBufferToBuffer(ring[i % 3]!, 0, ring[(i % 3) + 1]!, 0, a.size);
  });
  for (const buffer of [a, b, c]) buffer.destroy();
  programs.dispose();
  const operations = times * 2 * width ** 3;
  return {
    peak,
    products: operations / seconds,
    halves: operations / halved,
    bandwidth: (2 * copies * 4 * width * width) / copying,
  };
}
