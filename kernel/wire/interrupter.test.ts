import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../tests/until.js";
import { WORDS, WORDS_BYTES } from "../contract/bridge.js";
import { Interrupter } from "./interrupter.js";

test("a main thread that loads the kernel's own modules is asked and not terminated", async () => {
  const words = new Int32Array(new SharedArrayBuffer(WORDS_BYTES));
  const told: string[] = [];
  const interrupter = new Interrupter(
    words,
    {
      terminate: () => {
        told.push("terminated");
        return Promise.resolve();
      },
    },
    (interrupt, question) => told.push(`${interrupt}.${question}`),
  );
  words[WORDS.loading] = 1;
  interrupter.interrupt();
  await until(() => told.length > 3, "questions of a thread that loads");
  assert.ok(!told.includes("terminated"));
  words[WORDS.loading] = 0;
  await until(() => told.includes("terminated"), "the end of a thread that computes");
  let over = false;
  void interrupter.over().then(() => (over = true));
  const last = () => told.filter((one) => one !== "terminated").at(-1)!;
  await until(() => {
    interrupter.answered(1, Number(last().split(".")[1]));
    return over;
  }, "an answer to what was asked last");
  assert.equal(words[WORDS.interrupt], 0);
  interrupter.close();
});
