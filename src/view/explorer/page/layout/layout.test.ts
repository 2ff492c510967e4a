import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { branchRules } from "../../../../rollout/rules/registry.js";
import type { RolloutTree } from "../../../../rollout/rollout-tree.js";
import { grpoBatch } from "../../../testing/sample-batch.js";
import { manyTrajectories } from "../../../testing/large-tree.js";
import { sampleTree } from "../../../testing/sample-tree.js";
import { makePayload } from "../../make-payload.js";
import type { ExplorerPayload } from "../../payload.js";
import { ownSettings, replayOf, type WhatIf } from "../tree/shown-replay.js";
import { factsOf, type TreeFacts } from "../tree/tree-facts.js";
import { unpackTree } from "../tree/unpack-tree.js";
import type { Filter } from "./lane-order.js";
import { layOut, markX, type Layout, type LayoutInput } from "./layout.js";

function laidOut(
  facts: TreeFacts,
  { whatIf, ...input }: Partial<LayoutInput> & { whatIf?: WhatIf } = {},
): Layout {
  const replay = replayOf(facts.tree, whatIf ?? ownSettings(facts.tree));
  return layOut(facts, {
    ...{ width: 900, maxHeight: 590, filter: "all", align: "turns", lanes: "auto", zoom: 1 },
    ...{ unfolded: new Set(), replay, ...input },
  });
}

const factsOfTree = (tree: RolloutTree) =>
  factsOf(unpackTree(JSON.parse(JSON.stringify(makePayload(tree))) as ExplorerPayload));

/** Trees of every kind of rule, and forks. */
async function manyTrees(): Promise<TreeFacts[]> {
  const trees: RolloutTree[] = [];
  for (let seed = 0; seed < 10; seed++) {
    const rule = branchRules[seed % branchRules.length]!;
    trees.push(await sampleTree({ seed, rule }));
  }
  for (const rule of ["treerl", "at2po", "appo", "tree-grpo", "treepo"] as const) {
    const own = { rule, n: undefined, initialRollouts: undefined, beamSize: 1 };
    trees.push(await sampleTree({ seed: 3, ...own }));
  }
  trees.push(await trees[0]!.fork(1, { n: 3 }), await trees[1]!.fork(0, { at: 1, n: 2 }));
  return trees.map(factsOfTree);
}

/** Where links run down, from which lane to which. */
function links(facts: TreeFacts, layout: Layout) {
  return layout.lanes.flatMap(({ ghost, trajectory }, to) => {
    const node = ghost?.node ?? facts.tree.trajectories[trajectory]!.from;
    if (node < 0 || (!ghost && facts.above[trajectory]! < 0)) return [];
    const parent = Math.max(0, facts.tree.nodes[node]!.trajectory);
    const from = layout.lanes.findIndex((lane) => lane.trajectory === parent);
    return [{ x: markX(layout, facts, node, ghost?.offset), from, to }];
  });
}

/** Where a lane begins, its link included. */
function beginning(facts: TreeFacts, layout: Layout, lane: number): number {
  const link = links(facts, layout).find(({ to }) => to === lane);
  const { trajectory } = layout.lanes[lane]!;
  const own = trajectory < 0 ? [] : facts.own[trajectory]!.map((node) => layout.x0[node]!);
  return Math.min(link?.x ?? Infinity, ...own);
}

test("no link crosses another, or what a lane shows, in any tree, alignment or What if?", async () => {
  let seen = 0;
  for (const facts of await manyTrees()) {
    for (const align of ["turns", "tokens", "time"] as const) {
      const bold = { ...ownSettings(facts.tree), changes: { probability: 0.9 } };
      for (const whatIf of [ownSettings(facts.tree), bold]) {
        const layout = laidOut(facts, { align, whatIf });
        for (const { x, from, to } of links(facts, layout)) {
          assert.ok(from >= 0 && from < to, "a child lies below its parent");
          for (let lane = from + 1; lane < to; lane++) {
            seen++;
            const start = beginning(facts, layout, lane);
            assert.ok(start >= x - 1e-6, `lane ${lane} begins at ${start}, a link passes at ${x}`);
          }
        }
      }
    }
  }
  assert.ok(seen > 100, `links must pass lanes, ${seen} do`);
});

/** The trees of the explorer's design, real and large, where they lie beside the checkout. */
const designed = new URL("../../../../../../../shared/design/explorer/data/", import.meta.url);
const missing = existsSync(designed) ? false : "shared/design/explorer/data is not here";

interface DesignedTree {
  question: string;
  nodes: {
    p: number;
    k: number;
    r: number;
    d: number;
    t: number[];
    e?: number[];
    tool?: { tag: string; in: string; out: string; ok: boolean };
  }[];
  rows: { k: "initial" | "branch" | "refill"; p: number; f: number; l: number; score: number }[];
}

/** A tree of the design as the page has it. */
function designedFacts({ question, nodes, rows }: DesignedTree): TreeFacts {
  const depths: number[] = [];
  let start = 0;
  const made = nodes.map(({ p, k, r, d, t, tool }, i) => {
    depths[i] = p < 0 ? 0 : depths[p]! + nodes[p]!.t.length;
    const node = {
      ...{
        parent: p,
        kind: k === 0 ? ("model" as const) : ("tool" as const),
        trajectory: r,
        round: d,
      },
      ...{ start, length: t.length, depth: depths[i] },
      ...(tool ? { tool: { tag: tool.tag, input: tool.in, ok: tool.ok }, text: tool.out } : {}),
    };
    start += t.length;
    return node;
  });
  const trajectories = rows.map(({ k, p, f, l, score }) => {
    return { kind: k, parent: p, from: f, leaf: l, end: "answer", calls: 0, score };
  });
  return factsOf({
    ...{ prompt: question, title: question, nodes: made, trajectories, vocabulary: [] },
    tokens: Uint16Array.from(nodes.flatMap(({ t }) => t)),
    entropies: Float32Array.from(
      nodes.flatMap(({ t, e }) => t.map((_, i) => (e?.[i] ?? NaN) / 1000)),
    ),
  } as unknown as TreeFacts["tree"]);
}

test("no link of the design's trees crosses another, at any width", { skip: missing }, () => {
  const files = readdirSync(designed).filter(
    (name) => name.endsWith(".js") && name !== "ribbon.js",
  );
  const replay = {
    changed: false,
    ghosts: [],
    missing: new Set(),
    attempts: new Map(),
    chosen: new Map(),
    chances: new Map(),
  };
  let seen = 0;
  for (const name of files) {
    const text = readFileSync(new URL(name, designed), "utf8");
    const tree = JSON.parse(text.slice(text.indexOf('{"id"')).replace(/;\s*$/, "")) as DesignedTree;
    const facts = designedFacts(tree);
    for (const width of [390, 660, 1400]) {
      for (const align of ["turns", "tokens"] as const) {
        const layout = layOut(facts, {
          ...{ width, maxHeight: 590, filter: "all", align, lanes: "auto", zoom: 1 },
          ...{
            unfolded: new Set<number>(),
            replay: replay as unknown as LayoutInput["replay"],
          },
        });
        assert.equal(layout.lanes.length, tree.rows.length);
        for (const { x, from, to } of links(facts, layout)) {
          assert.ok(from >= 0 && from < to, `${name}: a child lies below its parent`);
          for (let lane = from + 1; lane < to; lane++) {
            seen++;
            assert.ok(
              beginning(facts, layout, lane) >= x - 1e-6,
              `${name}, ${width}: lane ${lane}`,
            );
          }
        }
      }
    }
  }
  assert.ok(files.length >= 5 && seen > 200, `${files.length} trees, ${seen} links pass lanes`);
});

test("children lie below their parent, inside its subtree, the one that branches last first", async () => {
  for (const facts of await manyTrees()) {
    const { lanes } = laidOut(facts);
    assert.equal(lanes.length, facts.tree.trajectories.length);
    const open: number[] = [];
    for (const { trajectory } of lanes) {
      const above = facts.above[trajectory]!;
      while (open.length > 0 && open.at(-1) !== above) open.pop();
      assert.equal(open.at(-1) ?? -1, above, `trajectory ${trajectory} lies under ${above}`);
      open.push(trajectory);
    }
  }
});

test("columns begin together by turn, and tool results take at most 45% of the plot", async () => {
  for (const facts of await manyTrees()) {
    for (const width of [390, 660, 1400]) {
      const layout = laidOut(facts, { width });
      let chips = 0;
      facts.tree.nodes.forEach(({ kind, parent }, i) => {
        const turn = facts.turn[i]!;
        if (kind === "tool") assert.ok(Math.abs(layout.x0[i]! - layout.chipX[turn]! - 3) < 1e-6);
        const isFirst = parent < 0 || facts.tree.nodes[parent]!.kind === "tool";
        if (kind === "model" && isFirst) assert.equal(layout.x0[i], layout.turnX[turn]);
      });
      layout.chipWidth.forEach((wide) => (chips += wide > 0 ? wide + layout.gap : 0));
      const least = layout.chip <= 20;
      assert.ok(least || chips <= 0.45 * layout.plotWidth, `${chips} of ${layout.plotWidth}`);
    }
    const [plain, unfolded] = [
      laidOut(facts),
      laidOut(facts, { unfolded: new Set(facts.tree.nodes.keys()) }),
    ];
    assert.deepEqual(
      unfolded.lanes.map(({ y }) => y),
      plain.lanes.map(({ y }) => y),
      "unfolding moves no lane",
    );
  }
});

test("a filter keeps the ancestors of what passes it", async () => {
  const { tree, scored, batch } = await grpoBatch();
  const facts = factsOf(unpackTree(makePayload(tree, { scored, batch })));
  for (const filter of ["right", "wrong"] as Filter[]) {
    const { lanes } = laidOut(facts, { filter });
    const shown = new Set(lanes.map(({ trajectory }) => trajectory));
    facts.verdicts.forEach((verdict, i) => {
      if ((filter === "right") !== (verdict === "right")) return;
      for (let at = i; at >= 0; at = facts.above[at]!) assert.ok(shown.has(at));
    });
    for (const { trajectory, dim } of lanes) {
      assert.equal(dim, (filter === "right") !== (facts.verdicts[trajectory] === "right"));
    }
  }
});

test("one trajectory that never ends squeezes no other", async () => {
  const facts = factsOfTree(await manyTrajectories(16, 60));
  const plain = laidOut(facts);
  assert.ok(
    plain.clip.every((clip) => clip === Infinity),
    "alike trajectories have no outlier",
  );
  const long = facts.tree.nodes.findLastIndex(({ kind }) => kind === "model");
  facts.tree.nodes[long]!.length = 2000;
  const layout = laidOut(facts);
  assert.ok(layout.clip[facts.turn[long]!]! < 100);
  assert.ok(layout.x1[long]! - layout.x0[long]! <= layout.plotWidth / 2);
  assert.ok(layout.tokenWidth >= 0.8 * plain.tokenWidth, `${layout.tokenWidth}`);
});

test("an unfolded result never fills the plot, however far it is zoomed", async () => {
  for (const facts of (await manyTrees()).slice(0, 3)) {
    const all = new Set(facts.tree.nodes.keys());
    for (const zoom of [1, 20, 400]) {
      const { x0, x1, plotWidth } = laidOut(facts, { unfolded: all, zoom });
      facts.tree.nodes.forEach(({ kind }, i) => {
        if (kind !== "tool") return;
        assert.ok(x1[i]! - x0[i]! <= 0.6 * plotWidth + 1, `${x1[i]! - x0[i]!} of ${plotWidth}`);
      });
    }
  }
});
