import { Programs } from "../../../src/tensor/gpu/programs.js";
import { largeGroups, largeMatmul } from "../../../src/tensor/gpu/wgsl/large-matmul.js";
import { matmul, TILE } from "../../../src/tensor/gpu/wgsl/matmul.js";
import type { StoredType } from "../../../src/tensor/gpu/wgsl/stored.js";

/** What a GPU does at most, measured: operations (products and sums) per second, bytes per second. */
export interface CardRates {
  /** float32 products and sums of numbers that are in registers: the limit. */
  peak: number;
  /** A large product of matrices by the kernel that models use. */
  products: number;
  /** The same with one side stored in float16, which is dequantized on the way; sums are float32. */
  halves: number;
  /** Reading of memory that no cache holds. (A copy is slower: 845 of 4,380 GB/s on an H200.) */
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

/** Runs a shader of one or two buffers, and gives its seconds. */
async function shaderTime(
  device: GPUDevice,
  code: string,
  buffers: readonly GPUBuffer[],
  groups: number,
  constants: Record<string, number>,
): Promise<number> {
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module: device.createShaderModule({ code }), constants },
  });
  const bindings = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  return fastest(device, (encoder) => {
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindings);
    pass.dispatchWorkgroups(groups);
    pass.end();
  });
}

async function peakRate(device: GPUDevice, groups: number, rounds: number): Promise<number> {
  const numbers = device.createBuffer({ size: groups * 256 * 4, usage: GPUBufferUsage.STORAGE });
  const seconds = await shaderTime(device, peakShader, [numbers], groups, { rounds });
  numbers.destroy();
  return (groups * 256 * rounds * chains * 4 * 2) / seconds;
}

const chunk = 64 * 256 * 16;
/** Reads a chunk in each workgroup; the sum is looked at, so that the reads are not left out. */
const readShader = `
@group(0) @binding(0) var<storage, read> all: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> found: array<f32>;
override chunks: u32;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) lid: u32) {
  var sum = vec4f();
  for (var i = 0u; i < 64u; i++) { sum += all[(wg.x % chunks * 64u + i) * 256u + lid]; }
  if (sum.x + sum.y + sum.z + sum.w == 1.0) { found[0] = 1.0; }
}`;

async function readRate(device: GPUDevice, chunks: number, times: number): Promise<number> {
  const usage = GPUBufferUsage.STORAGE;
  const buffers = [chunks * chunk, 4].map((size) => device.createBuffer({ size, usage }));
  const seconds = await shaderTime(device, readShader, buffers, chunks * times, { chunks });
  for (const buffer of buffers) buffer.destroy();
  return (chunks * times * chunk) / seconds;
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
    const kind = { aTransposed: false, bTransposed: true };
    const shape = { m: width, n: width, k: width, places: [width] };
    const large = stored === "float32" ? largeGroups(kind, shape) : undefined;
    const pass = encoder.beginComputePass();
    for (let i = 0; i < times; i++) {
      programs.record(pass, {
        program: large
          ? largeMatmul(kind)
          : matmul({ parts: 1, along: "columns", ...kind, stored }),
        buffers: [a, b, c].map((buffer) => ({ buffer })),
        numbers: {
          whole: [width, width, width, width, 0, 0, 0, 0, 0, width, width, width],
          fractions: [1],
        },
        groups: large ?? [Math.ceil(width / TILE), Math.ceil(width / TILE)],
      });
    }
    pass.end();
    programs.flush();
  };
  const seconds = await fastest(device, product("float32"));
  const halved = await fastest(device, product("float16"));
  // 512 MB, which no cache holds.
  const bandwidth = width < 1024 ? await readRate(device, 4, 1) : await readRate(device, 2048, 4);
  for (const buffer of [a, b, c]) buffer.destroy();
  programs.dispose();
  const operations = times * 2 * width ** 3;
  return { peak, products: operations / seconds, halves: operations / halved, bandwidth };
}
