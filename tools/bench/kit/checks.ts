// The GPU tests of the repository, run by the card kit: every kernel, training and decoding beside the engine.
import { fileURLToPath } from "node:url";
import { run } from "node:test";

export interface Check {
  name: string;
  passed: boolean;
  error?: string;
}

const kernels = ["tensor/gpu.slow.test.js"];
const all = [...kernels, "model/gpu-decoder.slow.test.js", "tensor/webgpu.slow.test.js"];

/** Runs them one file after another; a test that was skipped has not passed. */
export async function* runChecks(quick: boolean, milliseconds: number): AsyncGenerator<Check> {
  const files = (quick ? kernels : all).map((name) =>
    fileURLToPath(new URL(`../../../tests/${name}`, import.meta.url)),
  );
  for await (const { type, data } of run({ files, concurrency: false, timeout: milliseconds })) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { error } = data.details as { error?: { cause?: Error } };
    yield {
      name: data.name,
      passed: type === "test:pass" && data.skip === undefined,
      ...(error && { error: String(error.cause?.message ?? error.cause) }),
    };
  }
}
