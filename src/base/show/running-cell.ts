/** The cell that some code runs in: its signal is aborted by an interrupt. */
interface RunningCell {
  readonly id: string;
  readonly signal: AbortSignal;
}

/**
 * The kernel's cell that asks, or undefined in a plain program. The kernel is found by its well-known symbol, so
 * that the toolkit needs none of its code.
 */
export function runningCell(): RunningCell | undefined {
  const host = (globalThis as { [key: symbol]: { cell(): RunningCell | undefined } | undefined })[
    Symbol.for("arpo-lab.kernel.host")
  ];
  return host?.cell();
}
