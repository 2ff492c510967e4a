#!/usr/bin/env node
try {
  await import("../dist/cli/main.js");
} catch (error) {
  // Before the program is there, no part of it can say this.
  if (error?.code !== "EMFILE" && error?.code !== "ENFILE") throw error;
  console.error(
    `Cannot start arpo-lab: the process must be allowed to open more files (ulimit -n 1024), got ${error.code}`,
  );
  process.exit(1);
}
