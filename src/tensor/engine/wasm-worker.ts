// A thread of the wasm engine: runs the same module in the same memory and waits for jobs inside it.
import { threadData } from "#platform/modules";
import type { WasmExports, WasmThread } from "./wasm-engine.js";

const { module, memory, thread, stack } = (await threadData()) as WasmThread;
const never = () => {
  throw new RangeError("Cannot compute: the wasm engine is out of memory");
};
const instance = new WebAssembly.Instance(module, { env: { memory, out_of_memory: never } });
const exports = instance.exports as unknown as WasmExports;
exports.__stack_pointer.value = stack;
exports.arpo_worker(thread);
