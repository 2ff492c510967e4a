const emit = process.emitWarning.bind(process) as (...args: unknown[]) => void;
const closedLate = /^Closing (file descriptor \d+|a FileHandle object) on garbage collection/;
let isTorn = false;

/**
 * From the first interrupt on: it may have cut off whoever was reading a file, Node's own loader too, and
 * then the garbage collector closes that file. Nobody can fix it in a cell, so it is no news there.
 */
export function expectTornFiles(): void {
  isTorn = true;
}

// Cells reach Node's own loader through an option that Node still calls experimental. That is this
// package's choice and no news to whoever runs a cell; every other warning passes.
process.emitWarning = (...args: unknown[]): void => {
  const text = String(args[0]);
  if (text.startsWith("vm.USE_MAIN_CONTEXT_DEFAULT_LOADER")) return;
  if (isTorn && closedLate.test(text)) return;
  emit(...args);
};
