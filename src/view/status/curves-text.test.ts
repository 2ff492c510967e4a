import assert from "node:assert/strict";
import { test } from "node:test";
import { curvesText } from "./curves-text.js";

const curve = (name: string, steps: number, rise: number) => {
  const x = Array.from({ length: steps + 1 }, (_, step) => 1000 * step);
  const none = x.map(() => null);
  return { name, seeds: 1, x, y: x.map((at) => (rise * at) / 1000), low: none, high: none };
};

test("curvesText() draws each arm in a line, at equal places of a common axis", () => {
  const curves = [curve("fresh", 4, 0.1), curve("trees", 2, 0.2), curve("late", 0, 0)];
  const waiting = { ...curve("waiting", 0, 0), x: [], y: [], low: [], high: [] };
  const all = { title: "held-out score", x: "tokens", curves: [...curves, waiting] };
  const [head, fresh, trees, late, none] = curvesText(all).split("\n");
  assert.equal(head, "held-out score, 0 to 4,000 tokens, mean of the seeds so far");
  assert.match(fresh!, /^fresh +▁+▂+▃+▄+▅+▆+▇+█+ +0\.4 \(1 seed\)$/);
  assert.equal(/[▁-█]+/.exec(fresh!)![0].length, 24);
  assert.equal(/[▁-█]+/.exec(trees!)![0].length, 12);
  assert.match(late!, /^late +▁ +0 \(1 seed\)$/);
  assert.match(none!, /^waiting +not measured yet$/);
});
