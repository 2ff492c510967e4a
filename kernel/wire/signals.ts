interface SignalHandle {
  onsignal: (signal: number) => void;
  start(signal: number): number;
  unref(): void;
}

/**
 * Calls `heard` on SIGINT. `process.on` listens on the main thread only, which may be computing; the
 * handle beneath it listens on any. Where Node has no such handle, interrupts come by message only.
 */
export function onInterruptSignal(heard: () => void): void {
  const { noDeprecation = false } = process;
  try {
    process.noDeprecation = true;
    const { Signal } = (
      process as unknown as { binding(name: string): { Signal: new () => SignalHandle } }
    ).binding("signal_wrap");
    const handle = new Signal();
    handle.onsignal = heard;
    handle.unref();
    handle.start(2);
  } catch (error) {
    process.stderr.write(`Interrupts by signal are off: ${String(error)}\n`);
  } finally {
    process.noDeprecation = noDeprecation;
  }
}
