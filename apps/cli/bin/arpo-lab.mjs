#!/usr/bin/env node
try {
  await import("../../../dist/apps/cli/main.js");
} catch (error) {
  // Before the program is there, no part of it can say this. Node reports a package that it may not open as missing.
  const few = Number(process.report?.getReport().userLimits?.open_files?.soft) < 256;
  if (error?.code !== "EMFILE" && error?.code !== "ENFILE" && !few) throw error;
  console.error(
    `Cannot start arpo-lab: the process must be allowed to open more files (ulimit -n 1024), got ${error.code}`,
  );
  process.exit(1);
}
