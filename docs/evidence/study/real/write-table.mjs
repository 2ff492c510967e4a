// What is kept of the recipe's runs: one JSON line each, a picture of each family, and the table in
// docs/evidence/real-curves/README.md.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { meanOf } from "./measure.mjs";

const { compareRuns } = await import("../../../../dist/src/view/figures/curves.js");
const { saveFigure } = await import("../../../../dist/src/view/export/save-figure.js");

const [begin, end] = ["<!-- the table -->", "<!-- end of the table -->"];
const fixed = (value) => value.toFixed(2);
const told = ({ mean, half }) => `${fixed(mean)} ± ${fixed(half)}`;
const signed = (found) => `${found.mean < 0 ? "" : "+"}${told(found)}`;

const columns = [
  ...["family", "level", "seed", "steps", "before", "after SFT", "after ARPO", "gain"],
  ...["known wordings: SFT", "ARPO", "gain", "valid format", "calls", "minutes"],
];

/** Rewards by question, SFT's and ARPO's, and what a question gained: the same questions, so in pairs. */
const compared = (sft, arpo) => [
  told(meanOf(sft)),
  told(meanOf(arpo)),
  signed(meanOf(arpo.map((reward, i) => reward - sft[i]))),
];

/** Means over runs, question by question. */
const over = (runs, rewardsOf) =>
  rewardsOf(runs[0]).map((_, i) => meanOf(runs.map((run) => rewardsOf(run)[i])).mean);

function rowOf(runs) {
  const [{ family, level, seed, sizes }] = runs;
  const mean = (of) => meanOf(runs.map(of)).mean;
  const three = (key) => [
    mean((r) => r.before[key]),
    mean((r) => r.sft[key]),
    mean((r) => r.arpo[key]),
  ];
  return [
    ...[family, level, runs.length === 1 ? seed : `all ${runs.length}`, sizes.steps],
    fixed(mean((run) => run.before.reward)),
    ...compared(
      over(runs, (r) => r.sft.rewards),
      over(runs, (r) => r.arpo.rewards),
    ),
    ...compared(
      over(runs, (r) => r.known.sft.rewards),
      over(runs, (r) => r.known.arpo.rewards),
    ),
    ...[three("wellFormed"), three("calls")].map((figures) => figures.map(fixed).join(" → ")),
    mean(({ tuned, trained }) => (tuned.seconds + trained.seconds) / 60).toFixed(0),
  ];
}

/** Each step's score as the mean of four: a step's prompts are too few to tell one from the next. */
const smooth = (curve) =>
  curve.flatMap(({ step }, i) =>
    i < 3 ? [] : [{ step, reward: meanOf(curve.slice(i - 3, i + 1).map((c) => c.score)).mean }],
  );

/** Scores on a run's own prompts, and held-out rewards before ARPO and after; means of the seeds. */
async function picture(runs, path) {
  const [{ family, sizes }] = runs;
  const ends = (of) =>
    runs.map((run) => [
      { step: 0, reward: of(run).sft.reward },
      { step: sizes.steps, reward: of(run).arpo.reward },
    ]);
  const lines = {
    "own prompts": runs.map(({ trained }) => smooth(trained.curve)),
    "known wordings": ends((run) => run.known),
    "unknown wordings": ends((run) => run),
  };
  const title = `${family}: ARPO after SFT, ${runs.length} seeds`;
  await saveFigure(path, compareRuns(lines, { metric: "reward", title }));
}

export async function writeTable(results, into) {
  if (results.length === 0) throw new RangeError("Cannot write a table: a run must be finished, got none"); // prettier-ignore
  mkdirSync(into, { recursive: true });
  const rounded = (_, value) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);
  const lines = results.map((result) => `${JSON.stringify(result, rounded)}\n`);
  writeFileSync(join(into, "runs.jsonl"), lines.join(""));
  const families = new Map();
  for (const run of results) {
    const name = `${run.family} ${run.level} ${run.sizes.steps}`;
    families.set(name, [...(families.get(name) ?? []), run]);
  }
  const rows = [...families.values()].flatMap((runs) => [
    ...runs.map((run) => rowOf([run])),
    ...(runs.length > 1 ? [rowOf(runs)] : []),
  ]);
  for (const runs of families.values()) {
    await picture(runs, join(into, `${runs[0].family}.svg`));
  }
  const table = [columns, columns.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`);
  const path = join(into, "README.md");
  const text = readFileSync(path, "utf8");
  const [top, rest] = text.split(begin);
  const bottom = rest.split(end)[1];
  const whole = [top, begin, "\n\n", table.join("\n"), "\n\n", end, bottom].join("");
  writeFileSync(path, await format(whole, { ...(await resolveConfig(path)), filepath: path }));
}
