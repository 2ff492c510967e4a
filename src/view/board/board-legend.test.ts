import assert from "node:assert/strict";
import { test } from "node:test";
import { board } from "./board.js";

test("a legend that does not fit beside its title stands below it, and its row is higher", async () => {
  const run = (parts: readonly string[]) =>
    [1, 2].map((step) => ({
      ...{ step, "critic/score/mean": step },
      ...Object.fromEntries(parts.map((part, i) => [`timing_s/${part}`, step + i])),
    }));
  const pictureOf = async (parts: readonly string[]) =>
    (await board({ a: run(parts) }).bundle())["image/svg+xml"]!;
  const heightOf = (picture: string) => Number(/viewBox="0 0 \d+ (\d+)"/.exec(picture)![1]);
  const few = await pictureOf(["gen", "reward"]);
  const many = await pictureOf(["gen", "reward", "old_log_prob", "adv", "update_actor"]);
  assert.match(few, /Seconds per step<tspan dx=/);
  assert.match(many, /Seconds per step<tspan x="10" y="32"/);
  assert.equal(heightOf(many) - heightOf(few), 16);
});
