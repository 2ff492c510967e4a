import { checkArguments } from "../../common/options/check-arguments.js";
import { checkOptions, oneOf, type OptionRules } from "../../common/options/check-options.js";
import { readFile, readdir } from "#platform/files";
import { basename, join, resolve } from "#platform/path";
import { z } from "#zod";
import { defined } from "../../common/options/defined.js";
import { extractAnswer } from "../reward/answers/extract-answer.js";
import { writtenOutput } from "../base/text/authored-text.js";
import { resultIn } from "../base/text/result-block.js";
import type { Benchmark } from "./benchmarks/benchmark.js";
import { benchmarks } from "./benchmarks/benchmarks.js";
import { type TaskType, taskTypes } from "./metrics/evaluate-item.js";
import { ruleOf, type Sample, type SampleStatus, type Step } from "./infer/sample.js";
import { benchmarkReport } from "./report/benchmark-report.js";
import { Evaluation } from "./report/evaluation.js";
import { type AnswerJudge, scoreSamples } from "./report/score-samples.js";
import { writeResultFiles } from "./report/result-files.js";

const one = z.union([z.string(), z.number()]);
const output = z.looseObject({
  instruction: z.string().default(""),
  input: z.string(),
  output: z.string().default(""),
  prediction: z.string().nullish(),
  answer: z.union([one, z.array(one).min(1)]),
  logs: z.array(z.string()).default([]),
  search_query_history: z.array(z.string()).default([]),
  status: z.enum(["answered", "unanswered", "timeout", "context", "error"]).optional(),
  error: z.string().optional(),
});
type Output = z.infer<typeof output>;

/** How a sample ended, where its file does not say: the reference writes it into the texts. */
function statusOf(item: Output, written: string): SampleStatus {
  if (item.status) return item.status;
  if (/\[Timeout \(exceeding [\d.]+s\)\]$/.test(item.output)) return "timeout";
  if (item.output.startsWith("Error: ") && item.logs.length === 0) return "error";
  return written.includes("</answer>") ? "answered" : "unanswered";
}

/** Who wrote what; tokens are not in such files. */
function stepsOf(logs: readonly string[]): Step[] {
  const unknown = { tokens: [], logprobs: [], entropies: [] };
  return logs.map((text, i): Step => {
    const call = /<\/(\w+)>\s*$/.exec(logs[i - 1] ?? "")?.[1];
    const found = resultIn(text)?.trim();
    if (found === undefined || call === undefined) {
      return { kind: "model", text, ...unknown, finish: "stop" };
    }
    const tool = { tag: call, input: "", text: found, ok: true, retries: 0 };
    const rule = ruleOf(call, found);
    return { kind: "result", text, tokens: [], tool, ...defined({ rule }) };
  });
}

function sampleOf(item: Output, place: Pick<Sample, "benchmark" | "turn" | "index">): Sample {
  const steps = stepsOf(item.logs);
  const written = writtenOutput({ output: item.output, steps });
  const status = statusOf(item, written);
  return {
    ...place,
    instruction: item.instruction,
    input: item.input,
    output: item.output,
    prediction: status === "error" ? "" : (item.prediction ?? extractAnswer(written)),
    answer: item.answer,
    logs: item.logs,
    search_query_history: item.search_query_history,
    timing: { llm_time: 0, python_time: 0, search_time: 0, other_tool_time: 0, total_time: 0 },
    status,
    ...(status === "error" ? { error: item.error ?? item.output } : {}),
    failed_tool_calls: 0,
    prompt_tokens: [],
    steps,
  };
}

interface OutputsOptions {
  /** How benchmarks that nobody registered are scored. Default: they are refused. */
  task?: TaskType;
  /** Says whether predictions are right. Default: the metrics do. */
  judge?: AnswerJudge;
  /** Takes `NAME/NAME_output_TURN_metrics.json` and `..._metrics_overall.json`. Default: nothing is written. */
  out?: string;
  signal?: AbortSignal;
}

const rules: OptionRules<OutputsOptions> = {
  task: oneOf(taskTypes),
  judge: "object?",
  out: "path?",
  signal: "signal?",
};

/** Samples of a file, and how many of their predictions were taken out of their outputs. */
interface Outputs {
  samples: Sample[];
  extracted: number;
}

async function readOutputs(path: string, name: string, turn: number): Promise<Outputs> {
  const items = z.array(output).safeParse(JSON.parse(await readFile(path, "utf8")));
  if (!items.success) {
    throw new TypeError(
      `Cannot read ${path}: it must hold outputs: ${z.prettifyError(items.error)}`,
    );
  }
  const bare = items.data.filter(
    ({ prediction, output: text }) => prediction == null && text !== "",
  );
  return {
    samples: items.data.map((item, index) => sampleOf(item, { benchmark: name, turn, index })),
    extracted: bare.length,
  };
}

/**
 * Evaluates answers that are there already: every `NAME_output_TURN.json` below a folder, the
 * reference's own files too. Where an item has an `output` and no `prediction`, that is what stands in
 * the output's last answer block or box; the report says of how many.
 */
export async function evaluateOutputs(
  folder: string,
  options: OutputsOptions = {},
): Promise<Evaluation> {
  checkArguments("evaluate outputs", { folder }, { folder: "path" });
  checkOptions("evaluate outputs", options, rules);
  const { judge, signal, out, task } = options;
  const found = (await readdir(folder, { recursive: true }))
    .flatMap((path) => {
      const match = /^(.+)_output_(\d+)\.json$/.exec(basename(path));
      return match ? [{ path: join(folder, path), name: match[1]!, turn: Number(match[2]) }] : [];
    })
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.turn - b.turn));
  if (found.length === 0) {
    throw new RangeError(
      `Cannot evaluate ${folder}: there must be a NAME_output_TURN.json in it, got none`,
    );
  }
  const names = [...new Set(found.map(({ name }) => name))];
  const scored = await Promise.all(
    names.map(async (name) => {
      const benchmark: Benchmark =
        task !== undefined && !benchmarks.names().includes(name)
          ? { name, title: name, task }
          : benchmarks.get(name);
      const files = found.filter((file) => file.name === name);
      const read = await Promise.all(files.map((f) => readOutputs(f.path, name, f.turn)));
      const samples = read.flatMap((one) => one.samples);
      return {
        benchmark,
        samples: await scoreSamples(benchmark, samples, { judge, signal }),
        extracted: read.reduce((sum, one) => sum + one.extracted, 0),
      };
    }),
  );
  const reports = scored.map(({ benchmark, samples }) =>
    benchmarkReport({ benchmark, sha256: "" }, samples, { judged: judge !== undefined }),
  );
  const extracted = scored.reduce((sum, one) => sum + one.extracted, 0);
  const settings = {
    policy: `the answers in ${basename(resolve(folder))}`,
    ...(extracted > 0 ? { extracted } : {}),
    ...(judge ? { judge: judge.name } : {}),
    asked: {},
  };
  const evaluation = new Evaluation(
    settings,
    reports,
    scored.flatMap(({ samples }) => samples),
  );
  if (out !== undefined) await writeResultFiles(evaluation, out, { outputs: false });
  return evaluation;
}
