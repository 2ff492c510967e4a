import { readFile } from "node:fs/promises";
import { z } from "#zod";
import { studentInterval } from "../../../../src/eval/metrics/interval.js";
import { RunFolder } from "../../../../src/run/folder/run-folder.js";
import { defineTool } from "../definition.js";
import { fileIn } from "../folder-files.js";

type Json = Record<string, unknown>;

/** Steps at the end of a run that its mean is over. */
const lastSteps = 10;
const mostSettings = 60;

const usual = [
  "critic/score/mean",
  "actor/entropy_loss",
  "response_length/mean",
  "tools/total_calls",
];
const secret = /key|token$|secret|password|credential/i;

const round = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(5)) : null);

function figures(lines: readonly Json[], metric: string): Json | undefined {
  const values = lines.flatMap((line) => {
    const value = line[metric];
    return typeof value === "number" && Number.isFinite(value) ? [value] : [];
  });
  if (values.length === 0) return undefined;
  const { mean, half } = studentInterval(values.slice(-lastSteps));
  return {
    first: round(values[0]!),
    last: round(values.at(-1)!),
    highest: round(values.reduce((a, b) => Math.max(a, b))),
    [`mean_of_last_${Math.min(lastSteps, values.length)}`]: round(mean),
    plus_minus_95: round(half),
  };
}

/** Settings by their dotted names. */
function flat(value: unknown, name = "", into = new Map<string, string>()): Map<string, string> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value))
      flat(inner, name === "" ? key : `${name}.${key}`, into);
  } else into.set(name, secret.test(name) ? "(not shown)" : JSON.stringify(value).slice(0, 200));
  return into;
}

async function settingsOf(folder: string, run: string): Promise<Map<string, string>> {
  const { parse } = await import("yaml");
  const place = await fileIn(folder, `${run}/config.yaml`).catch(() => undefined);
  return place === undefined ? new Map() : flat(parse(await readFile(place, "utf8")));
}

export const compareRuns = defineTool({
  name: "compare_runs",
  description:
    "Training runs side by side: first, last and highest of the usual metrics or the named ones, the mean of the last 10 steps with a 95% interval over steps, and the settings that differ.",
  input: {
    runs: z
      .array(z.string().max(1000))
      .min(2)
      .max(8)
      .describe("run folders in the lab's folder, such as runs/arpo"),
    metrics: z.array(z.string().max(200)).max(12).optional(),
  },
  async run({ runs, metrics }, { lab }) {
    const { folder } = lab.lab;
    const read = await Promise.all(
      runs.map(async (run) => {
        // A link to a log elsewhere is refused.
        await fileIn(folder, `${run}/metrics.jsonl`);
        const lines = (await (
          await RunFolder.existing(await fileIn(folder, run))
        ).metrics()) as Json[];
        return { run, lines, settings: await settingsOf(folder, run) };
      }),
    );
    const core = [...new Set(read.flatMap(({ lines }) => lines.flatMap(Object.keys)))].filter(
      (name) => name.startsWith("val-core/"),
    );
    const asked = metrics ?? [...core.slice(0, 8), ...usual];
    const names = new Set(read.flatMap(({ settings }) => [...settings.keys()]));
    const differing = [...names].filter(
      (name) => new Set(read.map(({ settings }) => settings.get(name))).size > 1,
    );
    return {
      note: "One run each: an interval over steps is not one over seeds. `arpo-lab compare` pairs seeds.",
      data: {
        runs: read.map(({ run, lines }) => ({
          ...{ run, steps: lines.length },
          metrics: Object.fromEntries(
            asked.flatMap((name) => {
              const found = figures(lines, name);
              return found ? [[name, found]] : [];
            }),
          ),
        })),
        settings_that_differ: Object.fromEntries(
          differing
            .slice(0, mostSettings)
            .map((name) => [
              name,
              Object.fromEntries(
                read.map(({ run, settings }) => [run, settings.get(name) ?? "(not set)"]),
              ),
            ]),
        ),
        ...(differing.length > mostSettings && { left_out: differing.length - mostSettings }),
      },
    };
  },
});
