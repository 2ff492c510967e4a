// `npm run bench -- NAME [--json] [--backend B]`: runs bench/NAME.ts and prints its figures.
import { readdirSync } from "node:fs";
import { type Benchmark, figureLine } from "./figure.js";

const here = new URL(".", import.meta.url);
const names = readdirSync(here)
  .filter((file) => file.endsWith(".js") && !["main.js", "figure.js"].includes(file))
  .map((file) => file.slice(0, -3));
const args = process.argv.slice(2);
const name = args.find((arg) => !arg.startsWith("-"));
if (name === undefined || !names.includes(name)) {
  console.error(
    `Cannot run a benchmark: its name must be one of ${names.join(", ")}, got ${name ?? "none"}`,
  );
  process.exit(2);
}
const backend = args.indexOf("--backend");
if (backend >= 0) process.env.ARPO_LAB_BACKEND = args[backend + 1];

const { figures } = (await import(`./${name}.js`)) as { figures: Benchmark };
for await (const figure of figures(args)) {
  for (const number of [figure.value, figure.baselineValue, figure.ratio, figure.share]) {
    if (number !== undefined && !Number.isFinite(number)) {
      throw new RangeError(`Cannot report ${figure.name}: it must be a number, got ${number}`);
    }
  }
  console.log(args.includes("--json") ? JSON.stringify(figure) : figureLine(figure));
}
