// The same steps in a worker of a page whose browser has WebGPU.
import { environment } from "../../../common/platform/browser/process.js";
import { fetchFiles } from "./fetch-files.js";
import { threadData } from "../../../common/platform/browser/modules.js";

const base = (await threadData()) as string;
environment["ARPO_LAB_BACKEND"] = "webgpu";
await fetchFiles(base, ["native/arpo.wasm", "vendor/node-sqlite3-wasm.wasm"]);
try {
  const { gpuSteps } = await import("./gpu-steps.js");
  postMessage([await gpuSteps(false), await gpuSteps(true)]);
} catch (error) {
  postMessage({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}
