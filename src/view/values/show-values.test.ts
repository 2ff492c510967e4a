import assert from "node:assert/strict";
import { test } from "node:test";
import { BranchValues } from "../../measure/branch-values/branch-values.js";
import type { ValueRecord, ValueSettings } from "../../measure/branch-values/value-record.js";
import { registerShows } from "../register-shows.js";

registerShows();
const settings = { policy: "a <b>", K: 4 } as ValueSettings;

/** A trajectory of six tokens with a result before the fourth. */
const record = (task: string, calls: number): ValueRecord => ({
  ...{ index: 0, task, score: 1, texts: [..."abcdef"] },
  entropies: [0.1, 0.2, 0.3, 1, 0.5, 0],
  logprobs: [-0.1, -0.1, -0.1, -1, -0.2, 0],
  blocks: [..."abcdef"].map(() => "think"),
  segments: [0, 3].slice(0, 1 + calls).map((start) => ({ start, entropy: 1 })),
  states: [0, 3, 4].map((at, i) => ({ at, scores: [0, 1, Number(i > 0), 1], tokens: 8, calls: 0 })),
  group: [],
});
const bundle = (values: BranchValues) =>
  (values as unknown as { [key: symbol]: () => Record<string, string> })[
    Symbol.for("Jupyter.display")
  ]!();

test("branch values show themselves as a vector picture for light and dark pages", () => {
  const values = new BranchValues(settings, [record("a", 1), record("b", 1)]);
  const { "image/svg+xml": svg, "text/html": html, "text/plain": text } = bundle(values);
  assert.match(svg!, /^<svg [^]*<\/svg>$/);
  assert.match(svg!, /prefers-color-scheme:dark/);
  assert.match(
    svg!,
    /tool result<.*entropy \(nats\)<.*variance decided by the token<.*tokens there/s,
  );
  assert.match(svg!, /a &#60;b&#62;, 2 prompts, 4 forks/);
  assert.doesNotMatch(svg!, /NaN|undefined(?! )|<image/);
  assert.ok(html!.startsWith(svg!));
  assert.match(text!, /^BranchValues: a <b>, 2 prompts, 12 tokens in 6 states, 4 forks each\n/);
});

test("branch values without a tool result, and none at all, show themselves in words", () => {
  const values = new BranchValues(settings, [record("a", 0)]);
  assert.deepEqual(Object.keys(bundle(values)), ["text/plain"]);
  assert.match(bundle(new BranchValues(settings, []))["text/plain"]!, /0 prompts/);
});
