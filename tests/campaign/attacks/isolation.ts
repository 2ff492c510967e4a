// Calls of Python that leave something for the next one, each in another dress and order.
import { pyodidePool } from "../../../src/tools/python/pyodide-python.js";
import { costly, leavesNothing, leftovers } from "../../../src/tools/python/testing/leftovers.js";
import type { Area } from "../attempt.js";
import { dresses } from "./sandboxes.js";

export const isolation: Area = {
  name: "isolation",
  share: 4,
  seconds: 300,
  make: (random) => {
    const names = Array.from({ length: 6 }, () => random.choose(Object.keys(leftovers)));
    // What costs an interpreter costs seconds: one each time.
    const [first] = names.filter((name) => costly.includes(name));
    const some = names.filter((name) => name === first || !costly.includes(name));
    const dress = random.choose(Object.keys(dresses));
    return {
      name: `${some.join(", ")}; ${dress}`,
      promise: "the next call sees an interpreter as it was, or another one",
      run: async (place) => {
        const pool = pyodidePool({ workers: 1, timeoutMs: 20_000 });
        place.after(() => pool.dispose());
        await leavesNothing(pool, some, dresses[dress]);
        return `${some.length} calls`;
      },
    };
  },
};
