// Ways out of the Python sandbox, each in another dress.
import { contained, limits } from "../../../src/tools/python/testing/contained.js";
import { pyodidePool } from "../../../src/tools/python/pyodide-python.js";
import type { Area } from "../attempt.js";

const indented = (code: string) => code.replaceAll(/^/gm, "    ");
/** How the same code may be run. */
export const dresses: Record<string, (code: string) => string> = {
  "as it is": (code) => code,
  "by exec": (code) => `exec(${JSON.stringify(code)})`,
  "by exec in a fresh module": (code) =>
    `import types\nm = types.ModuleType("m")\nexec(${JSON.stringify(code)}, m.__dict__)`,
  "in a function": (code) => `def f():\n${indented(code)}\nf()`,
  "in a destructor": (code) =>
    `class A:\n  def __del__(self): exec(${JSON.stringify(code)}, globals())\nA()\nimport gc\ngc.collect()`,
  "at exit": (code) =>
    `import atexit\natexit.register(lambda: exec(${JSON.stringify(code)}, globals()))`,
  "in a comparison": (code) =>
    `class A:\n  def __eq__(self, o): exec(${JSON.stringify(code)}, globals())\nA() == 1`,
  "in an import hook": (code) =>
    `import sys\nclass F:\n  def find_spec(self, *a): exec(${JSON.stringify(code)}, globals())\nsys.meta_path.insert(0, F())\ntry:\n  import nothing_of_that_name\nexcept ImportError: pass`,
  "after a trace": (code) =>
    `import sys\nsys.settrace(lambda *a: None)\nexec(${JSON.stringify(code)})`,
};

export const sandboxes: Area = {
  name: "sandboxes",
  share: 2,
  seconds: 400,
  make: (random) => {
    const dress = random.choose(Object.keys(dresses));
    const at = random.uniform();
    return {
      name: `escapes from ${(100 * at).toFixed(0)} % of the list on, ${dress}`,
      promise: "no secret, no file, no visit, no process outside; the next call is in order",
      run: async () => {
        let names = "";
        await contained(pyodidePool(limits), "Pyodide", (all) => {
          const first = Math.floor(at * all.length);
          const some = [...all, ...all].slice(first, first + 5);
          names = some.map(([name]) => name).join(", ");
          return some.map(([name, code]) => [`${name}, ${dress}`, dresses[dress]!(code)]);
        });
        return names;
      },
    };
  },
};
