// A thread of the wasm engine: runs the same module in the same memory and waits for jobs inside it.
import { threadData } from "#platform/modules";
import type { WasmExports, WasmThread } from "./wasm-engine.js";

const { module, memory, thread, stack } = (await threadData()) as WasmThread;
const refusal = new RangeError("Cannot compute: the wasm engine is out of memory");
const refuse = (bytes: number) => {
  exports.arpo_pool_abandon(thread, bytes);
  throw refusal; // the caller of the job has the error that a person sees
};
const instance = new WebAssembly.Instance(module, { env: { memory, out_of_memory: refuse } });
const exports = instance.exports as unknown as WasmExports;
for (;;) {
  exports.__stack_pointer.value = stack;
  try {
    exports.arpo_worker(thread);
  } catch (error) {
    if (error !== refusal) throw error;
  }
}
