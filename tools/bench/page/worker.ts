// The worker of the benchmark page: trains on one backend and tells the page each figure.
import { threadData } from "../../../common/platform/browser/modules.js";
import { environment } from "../../../common/platform/browser/process.js";
import { wasmBuilds } from "../../../src/tensor/engine/wasm-builds.js";
import { fetchFiles } from "../../../tests/tab/work/fetch-files.js";

export interface Asked {
  backend: keyof typeof wasmBuilds | "webgpu";
  /** Where the package's files are. */
  base: string;
  seconds: number;
}

const { backend, base, seconds } = (await threadData()) as Asked;
environment["ARPO_LAB_BACKEND"] = backend;
try {
  await fetchFiles(base, [wasmBuilds[backend === "webgpu" ? "wasm" : backend].file]);
  const { measureTraining } = await import("./measure-training.js");
  for await (const figure of measureTraining(seconds)) postMessage({ figure });
  postMessage({ done: true });
} catch (error) {
  postMessage({ error: error instanceof Error ? error.message : String(error) });
}
