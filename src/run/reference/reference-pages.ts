import { configKeys } from "../config/keys.js";
import { metricMeanings } from "./metric-meanings.js";

/** A cell of a Markdown table. */
const cell = (text: string) => text.replaceAll("|", "\\|");

/** `docs/metrics.md`. */
export function metricsPage(): string {
  const sections = Object.entries(metricMeanings).map(
    ([title, metrics]) =>
      `## ${title}\n\n${metrics.map(({ name, meaning, own }) => `- \`${name}\`: ${meaning}${own ? " (ours)" : ""}`).join("\n")}\n`,
  );
  return `# Metrics

What a run writes into \`metrics.jsonl\` and hands to its loggers, one line per step, under the names of
the reference (verl with ARPO's tools); what the reference has no name for is marked. The table of
\`arpo-lab train\` shows a few of them. This page is made from the code and checked by a test.

${sections.join("\n")}`;
}

const shown = (value: unknown) => (value === undefined ? "" : `\`${JSON.stringify(value)}\``);

/** `docs/config.md`. */
export function configPage(): string {
  const used = configKeys.filter(({ kept }) => !kept);
  const kept = configKeys.filter((key) => key.kept);
  const rows = used.map(
    ({ path, default: by, description = "" }) =>
      `| \`${path}\` | ${cell(shown(by))} | ${cell(description)} |`,
  );
  return `# Configuration

The keys are verl's and ARPO's; files written for them load as they are, with \`key=value\`,
\`++key=value\` and \`\${…}\`. \`lab\` holds what they have no key for. Presets: \`--preset grpo\`, \`arpo\`
or \`aepo\`, and a size over it: \`tiny\`, \`3b-toy\`, \`7b\`, \`8b\`, \`14b\`. An unknown key is an error that
names the nearest known one. A file's paths
lead from the file's folder, where there is nothing from the working folder; what a run writes, and paths
of the command line, from the working folder; \`~\` is the home folder. This page is made from the code and checked by a test.

<!-- prettier-ignore -->
| key | default | what it does |
| --- | --- | --- |
${rows.join("\n")}

## Read, and without meaning here

These are checked, written into the run's configuration and listed when they are set; nothing here reads
them, because they are about clusters, other engines, or what is always so here (checkpoints are
always complete, tool results are always masked, every weight of a critic is trained, rewards are
computed one sample at a time).

${kept.map(({ path }) => `\`${path}\``).join(", ")}
`;
}
