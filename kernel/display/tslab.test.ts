import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import type * as package_ from "tslab";
import * as own from "./tslab.js";

const require = createRequire(import.meta.url);

test("tslab: its declarations are the package's, which is not needed to run them", () => {
  const ours: Omit<typeof package_, "default"> = own;
  const theirs: typeof own = {} as Omit<typeof package_, "default">;
  equal(typeof ours.newDisplay, "function");
  const { version } = require("tslab/package.json") as { version: string };
  equal(own.versions.tslab, version);
  const declared = readFileSync(require.resolve("tslab/dist/public.d.ts"), "utf8");
  const names = [...declared.matchAll(/^export declare (?:const|function) (\w+)/gm)];
  deepEqual(Object.keys(ours).sort(), names.map(([, name]) => name).sort());
  deepEqual(theirs, {});
});

test("tslab: versions.typescript is the compiler's of the cells", () => {
  const { version } = require("typescript/package.json") as { version: string };
  equal(own.versions.typescript, version);
});
