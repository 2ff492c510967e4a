const emit = process.emitWarning.bind(process) as (...args: unknown[]) => void;

// Cells reach Node's own loader through an option that Node still calls experimental. That is this
// package's choice and no news to whoever runs a cell; every other warning passes.
process.emitWarning = (...args: unknown[]): void => {
  if (!String(args[0]).startsWith("vm.USE_MAIN_CONTEXT_DEFAULT_LOADER")) emit(...args);
};
