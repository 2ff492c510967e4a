import { test } from "node:test";
import { contained, limits } from "./testing/contained.js";
import { pyodidePool } from "./pyodide-python.js";

test("Pyodide's pool contains every escape attempt and stays healthy", async () => {
  await contained(pyodidePool(limits), "Pyodide");
});
