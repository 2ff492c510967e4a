// The same steps in a worker of a page whose browser has WebGPU.
import { environment } from "../../../platform/browser/environment.js";
import { threadData } from "../../../platform/browser/threads.js";

const { adapters } = (await threadData()) as { adapters: boolean };
environment["ARPO_LAB_BACKEND"] = "webgpu";
try {
  const { gpuSteps } = await import("./gpu-steps.js");
  postMessage(await gpuSteps(adapters));
} catch (error) {
  postMessage({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}
