// What is kept of the recipe's runs: one JSON line each, and the table in docs/real-curves/README.md.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { meanOf } from "./measure.mjs";
import { format, resolveConfig } from "prettier";

const [begin, end] = ["<!-- the table -->", "<!-- end of the table -->"];
const fixed = (value) => value.toFixed(2);
const told = ({ reward, half }) => `${fixed(reward)} ± ${fixed(half)}`;

export async function writeTable(results, into) {
  if (results.length === 0) throw new RangeError("Cannot write a table: a run must be finished, got none"); // prettier-ignore
  mkdirSync(into, { recursive: true });
  const rounded = (_, value) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);
  const lines = results.map((result) => `${JSON.stringify(result, rounded)}\n`);
  writeFileSync(join(into, "runs.jsonl"), lines.join(""));
  const head = [
    "| family | level | seed | steps | before | after SFT | after ARPO | known wordings: SFT | ARPO | right | calls | minutes |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
  ];
  const rows = results.map(
    ({ family, level, seed, sizes, before, sft, arpo, known, tuned, trained }) => {
      const minutes = (tuned.seconds + trained.seconds) / 60;
      const three = (key) => [before, sft, arpo].map((m) => fixed(m[key])).join(" → ");
      const cells = [
        family,
        level,
        seed,
        sizes.steps,
        ...[before, sft, arpo, known.sft, known.arpo].map(told),
      ];
      return `| ${[...cells, three("right"), three("calls"), minutes.toFixed(0)].join(" | ")} |`;
    },
  );
  const path = join(into, "README.md");
  const text = readFileSync(path, "utf8");
  const [top, rest] = text.split(begin);
  const bottom = rest.split(end)[1];
  const whole = [top, begin, "\n\n", [...head, ...rows].join("\n"), "\n\n", end, bottom].join("");
  writeFileSync(path, await format(whole, { ...(await resolveConfig(path)), filepath: path }));
}
