import { Programs } from "../../src/tensor/gpu/programs.js";
import { largeMatmul } from "../../src/tensor/gpu/wgsl/large-matmul.js";
import { matmul, TILE } from "../../src/tensor/gpu/wgsl/matmul.js";

/** What the two kernels for products gave: how far the one is from exact sums, and whether the other gave its bytes. */
export interface ProductCheck {
  apart: number;
  same: boolean;
}

/** Products of sizes that fill no block, by `matmul` and `largeMatmul`. */
export async function checkProducts(device: GPUDevice): Promise<Record<string, ProductCheck>> {
  const programs = new Programs(device);
  const checks: Record<string, ProductCheck> = {};
  for (const [aTransposed, bTransposed] of [
    [false, true],
    [false, false],
    [true, false],
  ] as const) {
    for (const [m, n, k] of [
      [132, 72, 36],
      [128, 64, 32],
    ] as const) {
      for (const extra of [false, true]) {
        const kind = { aTransposed, bTransposed, biased: extra, accumulate: extra };
        const [A, B] = [values(m * k, 7919), values(n * k, 104729)];
        const [bias, before] = [values(n, 31), values(m * n, 17)];
        const strides = [aTransposed ? m : k, bTransposed ? k : n, n];
        const numbers = { whole: [m, n, k, n, 0, 0, 0, 0, 0, ...strides], fractions: [1] };
        const run = async (large: boolean) => {
          const given = [A, B, ...(extra ? [bias] : []), before].map((of) => upload(device, of));
          const encoder = device.createCommandEncoder();
          const pass = encoder.beginComputePass();
          programs.record(pass, {
            program: large ? largeMatmul(kind) : matmul({ parts: 1, along: "columns", ...kind }),
            ...{ buffers: given.map((buffer) => ({ buffer })), numbers },
            groups: large
              ? [Math.ceil(n / 64), Math.ceil(m / 128)]
              : [Math.ceil(n / TILE), Math.ceil(m / TILE)],
          });
          pass.end();
          programs.flush();
          const out = await download(device, encoder, given.at(-1)!);
          for (const buffer of given) buffer.destroy();
          return out;
        };
        const [plain, large] = [await run(false), await run(true)];
        let apart = 0;
        for (let i = 0; i < m; i++) {
          for (let j = 0; j < n; j++) {
            let sum = extra ? bias[j]! + before[i * n + j]! : 0;
            for (let d = 0; d < k; d++) {
              sum +=
                A[aTransposed ? d * m + i : i * k + d]! * B[bTransposed ? j * k + d : d * n + j]!;
            }
            apart = Math.max(apart, Math.abs(plain[i * n + j]! - sum));
          }
        }
        const name = `${aTransposed ? "t" : "n"}${bTransposed ? "t" : "n"} ${m} x ${n} x ${k}${extra ? " with bias, added" : ""}`;
        checks[name] = { apart, same: plain.every((value, i) => Object.is(value, large[i])) };
      }
    }
  }
  programs.dispose();
  return checks;
}

const values = (count: number, step: number) =>
  Float32Array.from({ length: count }, (_, i) => ((i * step) % 1009) / 1009 - 0.5);

function upload(device: GPUDevice, numbers: Float32Array<ArrayBuffer>): GPUBuffer {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const buffer = device.createBuffer({ size: numbers.byteLength, usage });
  device.queue.writeBuffer(buffer, 0, numbers);
  return buffer;
}

async function download(device: GPUDevice, encoder: GPUCommandEncoder, from: GPUBuffer) {
  const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
  const staging = device.createBuffer({ size: from.size, usage });
  encoder.copyBufferToBuffer(from, 0, staging, 0, from.size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const numbers = new Float32Array(staging.getMappedRange().slice(0));
  staging.destroy();
  return numbers;
}
