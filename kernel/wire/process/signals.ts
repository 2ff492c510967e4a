import { createRequire } from "node:module";
import { log } from "../../host/host.js";

interface SignalHandle {
  onsignal: (signal: number) => void;
  start(signal: number): number;
  unref(): void;
}

type Bindings = { internalBinding(name: "signal_wrap"): { Signal: new () => SignalHandle } };

/**
 * Calls `heard` on SIGINT. `process.on` listens on the main thread only, which may be computing; the
 * handle beneath it listens on any. Node shows it to threads started with `--expose-internals`, which
 * this one is and no other. Where there is no such handle, interrupts come by message only.
 */
export function onInterruptSignal(heard: () => void): void {
  try {
    const { internalBinding } = createRequire(import.meta.url)("internal/test/binding") as Bindings;
    const { Signal } = internalBinding("signal_wrap");
    const handle = new Signal();
    handle.onsignal = heard;
    handle.unref();
    handle.start(2);
  } catch (error) {
    log(`Interrupts by signal are off: ${String(error)}`);
  }
}
