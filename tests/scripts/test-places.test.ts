import assert from "node:assert/strict";
import { test } from "node:test";

const script = new URL("../../../tools/architecture/test-places.mjs", import.meta.url);
const { strayTestsIn } = (await import(script.href)) as {
  strayTestsIn(files: readonly string[]): string[];
};
const sources = ["src/run/trainer/train.ts", "src/run/trainer/tasks-of.ts", "src/run/seed.ts"];
const strayIn = (...tests: string[]) =>
  strayTestsIn([...sources, ...tests]).map((fault) => fault.split(":")[0]);

test("a test is named after a source beside it, with an aspect or without, or stands under tests/", () => {
  const fine = [
    "src/run/trainer/train.test.ts",
    "src/run/trainer/train.slow.test.ts",
    "src/run/trainer/train-native-calls.test.ts",
    "src/run/trainer/tasks-of-fit.slow.test.ts",
    "tests/run/anything.test.ts",
  ];
  assert.deepEqual(strayIn(...fine), []);
});

test("the name of a folder, half a word, and a source of another folder are no source beside it", () => {
  const stray = [
    "src/run/trainer/trainer.test.ts",
    "src/run/trainer/tasks.test.ts",
    "src/run/trainer/trains.test.ts",
    "src/run/trainer/native-train.test.ts",
    "src/run/trainer/seed.slow.test.ts",
  ];
  assert.deepEqual(strayIn(...stray), stray);
});
