import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { packagePath } from "#platform/modules";
import type { LoopPayload } from "../../../loop/payload.js";
import { textOf, tokenText, unpackTree } from "./unpack-tree.js";
import { factsOf } from "./tree-facts.js";
import { sharedTokens } from "./paths.js";
import { wordAt } from "./what-stands-out.js";
import { wordCards } from "./word-cards.js";

const { tree: payload } = JSON.parse(
  readFileSync(packagePath("data/loop.json"), "utf8"),
) as LoopPayload;
const facts = factsOf(unpackTree(payload));
const { tree } = facts;

test("a fault is the first word at which a trajectory left the path of a right one", () => {
  const wrong = facts.verdicts.flatMap((verdict, i) => (verdict === "right" ? [] : [i]));
  assert.ok(wrong.length >= 3);
  for (const trajectory of wrong) {
    const fault = facts.faults[trajectory]!;
    assert.equal(fault.trajectory, trajectory);
    const { start, depth } = tree.nodes[fault.node]!;
    const right = tree.nodes[fault.right.node]!;
    assert.notEqual(
      tree.tokens[start + fault.token],
      tree.tokens[right.start + fault.right.token],
      "the words differ",
    );
    assert.equal(depth + fault.token, right.depth + fault.right.token, "at the same place");
    const others = facts.verdicts.flatMap((verdict, i) => (verdict === "right" ? [i] : []));
    const followed = Math.max(...others.map((one) => sharedTokens(tree, trajectory, one)));
    assert.equal(depth + fault.token, followed, "no right one was followed longer");
    assert.ok(textOf(tree, tree.nodes[fault.node]!).includes(fault.text));
  }
  for (const right of facts.verdicts.keys())
    if (facts.verdicts[right] === "right") assert.equal(facts.faults[right], undefined);
});

test("where no trajectory was right, nothing is claimed", () => {
  const trajectories = payload.trajectories.map((one) => ({ ...one, score: 0 }));
  const none = factsOf(unpackTree({ ...payload, trajectories }));
  assert.deepEqual(
    none.faults.filter((fault) => fault !== undefined),
    [],
  );
  const cards = wordCards(none);
  assert.ok(cards.length > 0, "where it hesitated is shown all the same");
  for (const { words } of cards) assert.equal(words[0]!.led?.right, false);
});

test("a card has what was written among its words, with its probability in the tree", () => {
  const cards = wordCards(facts);
  assert.equal(cards.length, 3);
  for (const { node, token, words } of cards) {
    const at = tree.nodes[node]!.start + token;
    const own = words.find(({ place }) => place === tree.tokens[at])!;
    assert.ok(Math.abs(own.probability - Math.exp(-tree.surprises[at]!)) < 1e-6);
    assert.ok(own.led?.right);
    assert.ok(
      words.some(({ led }) => led && !led.right),
      "a word that led elsewhere",
    );
    assert.equal(new Set(words.map(({ place }) => place)).size, words.length);
  }
});

test("a number of several tokens is one word", () => {
  const node = tree.nodes.findIndex(
    ({ kind, start, length }) =>
      kind === "model" &&
      Array.from({ length: length - 1 }, (_, t) => t).some((t) =>
        [0, 1].every((by) => /^\d+$/.test(tokenText(tree, tree.tokens[start + t + by]!))),
      ),
  );
  const { start, length } = tree.nodes[node]!;
  const first = Array.from({ length }, (_, t) => t).find((t) =>
    /^\d+$/.test(tokenText(tree, tree.tokens[start + t]!)),
  )!;
  const word = wordAt(tree, node, first + 1);
  assert.equal(word.from, first);
  assert.match(word.text, /^\d{3,}$/);
});
