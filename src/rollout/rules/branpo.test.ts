import assert from "node:assert/strict";
import { test } from "node:test";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";
import type { RolloutOptions } from "../options.js";
import { rollout } from "../rollout.js";
import type { RolloutTree } from "../rollout-tree.js";
import { randomTextPolicy } from "../testing/random-text-policy.js";

const tools = new ToolSet([calculator()], { callLimit: 5 });

test("branpo attempts the last turns until a branch ends otherwise, and keeps that one", async () => {
  const even = (text: string) => text.length % 2 === 0;
  const right = (tree: RolloutTree, id: number) =>
    even(
      tree
        .path(tree.trajectories[id]!.leaf)
        .map(({ text }) => text)
        .join(""),
    );
  const judge: RolloutOptions["judge"] = (all) => all.map(({ text }) => even(text));
  let [pairs, alone] = [0, 0];
  for (let seed = 0; seed < 12; seed++) {
    const tree = await rollout(
      randomTextPolicy(),
      { prompt: "q" },
      { rule: "branpo", tools, responseLength: 120, seed, judge },
    );
    const firsts = tree.trajectories.filter(({ kind }) => kind === "initial");
    for (const { id } of firsts) {
      const attempts = tree.trajectories.filter(({ parent }) => parent === id);
      assert.ok(attempts.length <= 6);
      const kept = attempts.filter((one) => tree.selection!.includes(one.id));
      assert.ok(tree.selection!.includes(id) && kept.length <= 1);
      for (const one of attempts) {
        const ends = one.end === "answer" || one.end === "done";
        // The last one alone may count: the search ends there.
        if (one !== attempts.at(-1)) assert.ok(!kept.includes(one));
        if (kept.includes(one)) assert.ok(ends);
        if (right(tree, one.id) !== right(tree, id) && ends) assert.ok(kept.includes(one));
      }
      if (kept.length === 1) pairs++;
      else alone++;
    }
  }
  assert.ok(pairs > 0 && alone > 0, `${pairs} ${alone}`);
});
