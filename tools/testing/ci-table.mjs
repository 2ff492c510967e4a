// `node tools/testing/ci-table.mjs run|full SECONDS [WORDS]`: prints the table of a run of CI, whose sections stand on the
// input (number, seconds, CPU seconds and name between tabs), and writes it into its part of docs/ci.md unless
// words chose some of the sections.
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";

const page = fileURLToPath(new URL("../../docs/ci.md", import.meta.url));
const [which, total, words] = process.argv.slice(2);
const sections = readFileSync(0, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => line.split("\t"));

for (const [, seconds, cpu, name] of sections)
  console.log(`${seconds.padStart(5)} s  ${cpu.padStart(5)} s CPU  ${name}`);
console.log(`${total.padStart(5)} s in all`);
if (words) process.exit();

const machine = `${availableParallelism()} processors (${cpus()[0]?.model.trim()}), Node ${process.version}`;
const load = loadavg()[2].toFixed(1);
const date = new Date().toISOString().slice(0, 10);
const table = [
  `${date}, ${machine}, mean load of the last 15 minutes ${load}:`,
  "",
  "| section | seconds | CPU seconds |",
  "| --- | ---: | ---: |",
  ...sections.map(([, seconds, cpu, name]) => `| ${name} | ${seconds} | ${cpu} |`),
  `| **all** | **${total}** | |`,
].join("\n");
const [begin, end] = [`<!-- ${which} -->`, `<!-- /${which} -->`];
const text = readFileSync(page, "utf8");
if (!text.includes(begin) || !text.includes(end))
  throw new Error(`Cannot write the table: docs/ci.md must have ${begin} and ${end}`);
const [before] = text.split(begin);
const [, after] = text.split(end);
const made = `${before}${begin}\n\n${table}\n\n${end}${after}`;
const { format } = await import("prettier");
writeFileSync(page, await format(made, { parser: "markdown" }));
