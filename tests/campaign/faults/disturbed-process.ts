import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Random } from "../../../src/base/random/random.js";
import type { Place } from "../attempt.js";

/** What is loaded before a program, and makes its world another one. */
export function disturbances(random: Random): { name: string; source: string }[] {
  const days = Math.floor(4000 * (random.uniform() - 0.5));
  const share = 0.2 + 0.5 * random.uniform();
  const slow = 5 + random.integer(40);
  return [
    {
      name: `a clock that jumps by up to ${days} days at any call`,
      source: `const now = Date.now;
let off = 0;
Date.now = () => { if (Math.random() < 0.05) off = ${days} * 86400000 * Math.random(); return now() + Math.round(off); };
const Before = Date;
globalThis.Date = class extends Before { constructor(...args) { args.length ? super(...args) : super(Before.now()); } };
`,
    },
    {
      name: `a disk that takes ${slow} ms for ${(100 * share).toFixed(0)} % of its calls`,
      source: `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
for (const name of ["writeFile", "appendFile", "rename", "open", "mkdir", "rm", "readFile"]) {
  const real = fs.promises[name];
  fs.promises[name] = async (...args) => {
    if (Math.random() < ${share}) await new Promise((done) => setTimeout(done, ${slow}));
    return real(...args);
  };
}
for (const name of ["renameSync", "writeFileSync", "fsyncSync"]) {
  const real = fs[name];
  fs[name] = (...args) => {
    if (Math.random() < ${share}) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${slow});
    return real(...args);
  };
}
syncBuiltinESMExports();
`,
    },
  ];
}

/** The environment in which programs load a source first. */
export function preloaded(place: Place, source: string): Record<string, string> {
  const path = place.path("before.mjs");
  writeFileSync(path, source);
  return { NODE_OPTIONS: `--import ${pathToFileURL(path).href}` };
}
