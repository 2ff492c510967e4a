import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";
import { rollout } from "../rollout.js";
import { rolloutPresets } from "../presets.js";
import { RolloutTree } from "../rollout-tree.js";
import { treesFromJsonl, treesToJsonl } from "./tree-jsonl.js";
import { treesFromParquet, treesToParquet } from "./tree-parquet.js";
import { randomTextPolicy } from "../testing/random-text-policy.js";

const tools = new ToolSet([calculator()], { callLimit: 2 });

/** Compared by their length and digest: a difference would print both. */
const digest = (bytes: string | ArrayBuffer) =>
  createHash("sha256")
    .update(typeof bytes === "string" ? bytes : new Uint8Array(bytes))
    .digest("hex");

async function grown(): Promise<RolloutTree[]> {
  const tasks = [
    { prompt: "é1?", answer: { of: [1, null, "\u2028"] } },
    { prompt: "2", answer: 3 },
  ];
  const options = { ...rolloutPresets.aepo, n: 8, initialRollouts: 3, beamSize: 3, tools };
  const trees = await rollout(randomTextPolicy(), tasks, { ...options, dynamicRollouts: true });
  // What a remote policy may leave unsaid, and every number JSON has no word for.
  const [first] = trees;
  const node = first!.nodes[0]!;
  node.entropies.fill(NaN);
  node.logprobs.set([-0, -Infinity, 1e-42]);
  node.entropy = NaN;
  delete first!.nodes[1]!.top;
  const attempt = trees.flatMap((t) => t.nodes.flatMap((n) => n.branch ?? []))[0]!;
  attempt.score = -0;
  attempt.delta = -Infinity;
  return trees;
}

const plain = (trees: RolloutTree[]) => trees.map((tree) => ({ ...tree }));

test("trees go through JSON lines and back without loss", async () => {
  const trees = await grown();
  const text = treesToJsonl(trees);
  assert.equal(text.split("\n").length, trees.length + 1);
  const again = treesFromJsonl(text);
  assert.deepEqual(plain(again), plain(trees));
  assert.equal(digest(treesToJsonl(again)), digest(text));
  assert.ok(again[0] instanceof RolloutTree);
  assert.deepEqual(again[1]!.selected, trees[1]!.selected);
});

test("trees go through parquet and back without loss", async () => {
  const trees = await grown();
  const bytes = await treesToParquet(trees);
  const again = await treesFromParquet(bytes);
  assert.deepEqual(plain(again), plain(trees));
  assert.equal(digest(await treesToParquet(again)), digest(bytes));
});

test("treesToJsonl() without timing gives the same bytes for the same seed", async () => {
  const make = async () => digest(treesToJsonl(await grown(), { timing: false }));
  assert.equal(await make(), await make());
});

test("loading trees written before 0.1.0 says what to do", async () => {
  const [line] = treesToJsonl(await grown()).split("\n");
  const old = line!.replace('"trajectories":', '"rows":');
  assert.throws(
    () => treesFromJsonl(old),
    /Cannot read a tree: its field must be trajectories, got rows, .* run the rollout again/,
  );
});

test("treesFromJsonl() and treesFromParquet() refuse files of another kind", async () => {
  assert.throws(() => treesFromJsonl('{"nodes":[]}'), /line 1 must be one tree as JSON/);
  assert.throws(() => treesFromJsonl("\n[1"), /line 2 .* got "\[1"/);
  const { parquetWriteBuffer } = await import("hyparquet-writer");
  const other = parquetWriteBuffer({ columnData: [{ name: "tree", data: [1], type: "INT32" }] });
  await assert.rejects(treesFromParquet(other), /got one without the column node/);
});

test("a tree with a wrong field is refused with the field, its rule, the value and the place", async () => {
  const [line] = treesToJsonl(await grown()).split("\n");
  const changes: [change: (tree: RolloutTree) => void, fault: RegExp][] = [
    [
      (tree) => ((tree.nodes[1] as { parent: number }).parent = 1),
      /nodes\[1\]\.parent must be an integer from -1 to 0, got 1 \(line 1\)$/,
    ],
    [(tree) => ((tree.nodes as unknown[])[1] = null), /nodes must be a list of objects/],
    [
      (tree) => delete (tree.nodes[0] as Partial<{ tokens: unknown }>).tokens,
      /nodes\[0\]\.tokens must be a list of numbers, got undefined/,
    ],
    [
      (tree) => ((tree.nodes[0] as { kind: string }).kind = "x"),
      /nodes\[0\]\.kind must be model, tool or end, got "x"/,
    ],
    [(tree) => ((tree as { prompt: unknown }).prompt = null), /prompt must be an object, got null/],
    [
      (tree) => ((tree.trajectories[0] as { leaf: number }).leaf = 1e9),
      /trajectories\[0\]\.leaf must be an integer from -1 to \d+, got 1000000000/,
    ],
    [
      (tree) => ((tree.config as { responseLength: unknown }).responseLength = "9"),
      /config\.responseLength must be an integer/,
    ],
    [
      (tree) => ((tree.config as { n: number }).n = 1e6),
      /config\.n must be an integer from 0 to 1024, got 1000000 \(line 1\)$/,
    ],
    [
      (tree) => ((tree.nodes[0] as { top: unknown }).top = { width: 1, ids: 3 }),
      /nodes\[0\]\.top\.ids must be a list/,
    ],
  ];
  for (const [change, fault] of changes) {
    const tree = JSON.parse(line!) as RolloutTree;
    change(tree);
    assert.throws(() => treesFromJsonl(JSON.stringify(tree)), fault);
  }
});
