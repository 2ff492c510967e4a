// Every call that may leave something, against every interpreter; the fast ones are in python-tool-isolation.test.ts.
import { test } from "node:test";
import { pyodidePool } from "./pyodide-python.js";
import { sandboxUnavailableReason, systemPython } from "./system-python.js";
import { costly, leavesNothing, leftovers } from "./testing/leftovers.js";

const limits = { workers: 1, timeoutMs: 20_000 };

test("a call of Pyodide that breaks its interpreter, or changes what cannot be put back, leaves nothing", async () => {
  const pool = pyodidePool(limits);
  try {
    await leavesNothing(pool, costly);
  } finally {
    await pool.dispose();
  }
});

const trouble = sandboxUnavailableReason();
const skip = trouble !== undefined && `LEFT OUT, no python3 in a sandbox here: ${trouble}`;

test("no call of the machine's Python leaves anything", { skip }, async () => {
  const { pool } = systemPython(limits);
  try {
    await leavesNothing(pool, Object.keys(leftovers));
  } finally {
    await pool.dispose();
  }
});
