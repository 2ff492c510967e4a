// What is kept of the family's runs: per task set a JSON file of each pair's curve and cost, a picture of
// small panels, and the table in docs/evidence/family-curves/README.md.
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { panels } from "./panels.mjs";

const { treesFromJsonl } = await import("../../../../dist/src/rollout/files/tree-jsonl.js");

const rounded = (value) => Number(value.toPrecision(4));
const heldOut = (line) =>
  Object.entries(line).find(([name]) => /^val-core\/.*\/reward\/mean@\d+$/.test(name))?.[1];

/** Tokens that the model drew while training, each once, and trajectories that branched off others. */
async function generated(folder) {
  let [tokens, rows, branches] = [0, 0, 0];
  const own = join(folder, "rollouts");
  for (const name of await readdir(own)) {
    for (const tree of treesFromJsonl(await readFile(join(own, name), "utf8"))) {
      rows += tree.selected.length;
      branches += tree.trajectories.filter(({ kind }) => kind === "branch").length;
      for (const node of tree.nodes) if (node.kind === "model") tokens += node.tokens.length;
    }
  }
  return { rows, branches, tokens };
}

async function summary({ metrics, folder }) {
  const steps = metrics.filter((line) => "critic/score/mean" in line);
  const sum = (name) => steps.reduce((all, line) => all + line[name], 0);
  return {
    heldOut: metrics.flatMap((line) =>
      heldOut(line) === undefined ? [] : [{ step: line.step, reward: rounded(heldOut(line)) }],
    ),
    score: steps.map((line) => rounded(line["critic/score/mean"])),
    calls: sum("tools/total_calls"),
    ...(await generated(folder)),
  };
}

const fixed = (value) => value.toFixed(2);

/** Takes finished runs, by task set and pair. */
export async function writeCurves(found, pairs, into) {
  const lines = [];
  const style = await resolveConfig(fileURLToPath(new URL("README.md", into)));
  for (const [family, runs] of Object.entries(found)) {
    const curves = {};
    for (const { name, kind, branching, credit } of pairs) {
      if (!runs[name]) continue;
      const one = (curves[name] = { kind, branching, credit, ...(await summary(runs[name])) });
      const [start, end] = [one.heldOut[0], one.heldOut.at(-1)].map(({ reward }) => fixed(reward));
      const cost = [one.calls, one.tokens, one.rows, one.branches];
      lines.push(`| ${[family, branching, credit, kind, start, end, ...cost].join(" | ")} |`);
    }
    const text = JSON.stringify(curves);
    await writeFile(
      new URL(`${family}.json`, into),
      await format(text, { ...style, parser: "json" }),
    );
    const title = `${family}: score while training (mean of 5 steps) and held-out reward (dots)`;
    await writeFile(new URL(`${family}.svg`, into), panels(curves, title));
  }
  const page = new URL("README.md", into);
  const head =
    "| tasks | branching | credit | kind | before | after | calls | tokens | trajectories | branches |";
  const table = [head, `|${" --- |".repeat(10)}`, ...lines].join("\n");
  const before = await readFile(page, "utf8");
  const after = before.replace(/\| tasks [^]*?(?=\n\n)/, () => table);
  await writeFile(page, await format(after, { ...style, parser: "markdown" }));
}
