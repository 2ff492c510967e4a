// What the trees of part B's first seed cost, and how long they take when a call takes as long as so many tokens.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { loadTrees } from "arpo-lab";
import { pairedStatistics } from "../../../dist/src/run/compare/paired.js";
import { families, folderOf, places } from "./training-settings.mjs";

/** A call's time in tokens. */
export const latencies = [0, 10, 100, 1000];
const kept = 101;

/** Tokens and calls of a tree, and the time until its last trajectory has ended, for each latency. */
function costOf(tree) {
  const own = tree.nodes.filter(({ trajectory }) => trajectory >= 0);
  const tokens = own.reduce((sum, n) => sum + (n.kind === "model" ? n.tokens.length : 0), 0);
  const calls = own.filter(({ tool }) => tool).length;
  const afterAll = tree.config.expand !== undefined;
  const times = latencies.map((latency) => {
    const ends = [];
    const at = new Map();
    for (const { id, kind, from, leaf } of tree.trajectories) {
      const path = tree.path(leaf).filter(({ trajectory }) => trajectory === id);
      // A new root waits for all; so does a branch whose rule looks at whole chains.
      const waits = kind === "refill" || (kind === "branch" && afterAll);
      const before = ends.filter(
        (_, i) => kind === "refill" || tree.trajectories[i].kind === "initial",
      );
      let time = waits ? Math.max(0, ...before) : (at.get(from) ?? 0);
      for (const node of path) {
        if (node.kind === "model") time += node.tokens.length;
        if (node.tool) time += latency;
        at.set(node.id, time);
      }
      ends.push(time);
    }
    return Math.max(...ends);
  });
  return [tree.trajectories.length, tokens, calls, ...times];
}

/** One line per tree of the runs whose trees were kept; undefined where there is none. */
export async function gatherCosts(from) {
  const heads = [
    "family",
    "arm",
    "trajectories",
    "tokens",
    "calls",
    ...latencies.map((l) => `time_${l}`),
  ];
  const rows = [];
  for (const family of families) {
    for (const arm of Object.keys(places)) {
      const folder = join(from, family, folderOf(arm), `seed-${kept}`, "rollouts");
      for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
        const trees = await loadTrees(join(folder, name));
        for (const tree of trees) rows.push([family, arm, ...costOf(tree)]);
      }
    }
  }
  if (rows.length === 0) return undefined;
  return [heads, ...rows].map((row) => `${row.join(",")}\n`).join("");
}

/** Per trajectory, and the time of a prompt to that of fresh trajectories. */
export function costRows(text) {
  const rows = text
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.split(","));
  return families.flatMap((family) => {
    const of = (arm) =>
      rows.filter(([f, a]) => f === family && a === arm).map((r) => r.slice(2).map(Number));
    const fresh = of("fresh");
    if (fresh.length === 0) return [];
    const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;
    const times = latencies.map((_, i) => mean(fresh.map((row) => row[3 + i])));
    return Object.keys(places).map((arm) => {
      const own = of(arm);
      const shown = (values, digits) => {
        const { mean: middle, low, high } = pairedStatistics(values);
        return `${middle.toFixed(digits)} ± ${((high - low) / 2).toFixed(digits)}`;
      };
      return [
        ...[family, arm, String(own.length)],
        ...[
          shown(
            own.map(([n, tokens]) => tokens / n),
            1,
          ),
          shown(
            own.map(([n, , calls]) => calls / n),
            2,
          ),
        ],
        ...latencies.map((_, i) =>
          shown(
            own.map((row) => row[3 + i] / times[i]),
            2,
          ),
        ),
      ];
    });
  });
}
