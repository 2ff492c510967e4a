import { test } from "node:test";
import { contained, limits } from "./contained.js";
import { detectIsolation, systemPython } from "./system-python.js";

const isolation = detectIsolation();
test(
  "the machine's Python behind bubblewrap contains every escape attempt and stays healthy",
  { skip: isolation === "bubblewrap" ? false : `bubblewrap does not work here (${isolation})` },
  async () => {
    await contained(systemPython(limits).pool, "bubblewrap");
  },
);
