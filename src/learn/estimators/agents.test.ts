import assert from "node:assert/strict";
import { test } from "node:test";
import { hierarchicalGrpo, roleBaseline } from "./agents.js";

test("what does not fit together is refused by its name", () => {
  const refused: [() => unknown, RegExp][] = [
    [() => roleBaseline([1, 2], ["a"]), /agents must have one for each of the 2 scores, got 1/],
    [() => roleBaseline([NaN], ["a"]), /scores must be finite, got NaN/],
    [() => roleBaseline([1], ["a"], { decay: 2 }), /decay must be .*, got 2/],
    [() => hierarchicalGrpo([1], ["a"], []), /episodes must have one for each of the 1 scores/],
  ];
  for (const [call, why] of refused) assert.throws(call, why);
});

test("running means go on where they were left", () => {
  const agents = ["a", "b", "a", "a"];
  const scores = [1, -1, 0.5, 2];
  const all = roleBaseline(scores, agents);
  const first = roleBaseline(scores.slice(0, 2), agents.slice(0, 2));
  const rest = roleBaseline(scores.slice(2), agents.slice(2), { baselines: first.baselines });
  assert.deepEqual([...first.advantages, ...rest.advantages], all.advantages);
  assert.deepEqual(rest.baselines, all.baselines);
});
