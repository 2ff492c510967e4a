import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "#zod";
import { world } from "../../../src/tasks/tasks/world.js";
import type { Benchmark } from "../../../src/eval/benchmarks/benchmark.js";
import { benchmarks } from "../../../src/eval/benchmarks/benchmarks.js";
import { evaluate } from "../../../src/eval/evaluate.js";
import type { Sample } from "../../../src/eval/infer/sample.js";
import { taskTypes } from "../../../src/eval/metrics/evaluate-item.js";
import { writeWhole } from "../../../src/eval/report/result-files.js";
import { modelFingerprint } from "../../../src/model/files/model-fingerprint.js";
import { modelFolder, outputFolder } from "../../../src/model/files/model-folder.js";
import { Policy } from "../../../src/policy/policies.js";
import type { Dialect } from "../../../src/policy/remote/dialect.js";
import { taskTools } from "../../../src/tasks/task-tools.js";
import { loadTools, type ToolsConfig } from "../../../src/tools/load-tools.js";
import { pythonTool } from "../../../src/tools/python/python-tool.js";
import { ToolSet } from "../../../src/tools/tool-set.js";
import { reportPage } from "../../../src/view/evaluation/report-page.js";
import { ProgressLine } from "../../../src/base/show/progress-line.js";
import { type LiveLines, liveLines, progressLine } from "../terminal/live-lines.js";
import { stoppable } from "../terminal/stopping.js";
import { costOf, judgeOf, type JudgeOptions } from "./judge-option.js";
import { lockFolder } from "../../../src/run/folder/lock-folder.js";
import { aside, say } from "../terminal/say.js";

export interface EvalCommandOptions extends JudgeOptions {
  out: string;
  data?: string;
  own?: string;
  samples: number;
  questions?: number;
  seed: number;
  prompt?: string;
  mode?: "completion" | "default";
  temperature?: number;
  topP?: number;
  topK?: number;
  minP?: number;
  repetitionPenalty?: number;
  maxTokens?: number;
  limit: Record<string, number>;
  sampleTimeout?: number;
  concurrency?: number;
  asReference?: boolean;
  tools?: string;
  environment?: string;
  endpoint?: string[];
  endpointModel?: string;
  dialect: Dialect;
  apiKeyEnv?: string;
}

const ownBenchmarks = z.array(
  z.strictObject({
    name: z.string(),
    title: z.string().optional(),
    task: z.enum(taskTypes),
    question: z.string().optional(),
    answer: z.string().optional(),
    prompt: z.string().optional(),
    folder: z.string().optional(),
  }),
);

/** Registers the benchmarks of a file; their folders are seen from where the file is. */
async function registerOwn(file: string): Promise<void> {
  const parsed = ownBenchmarks.safeParse(parse(await readFile(file, "utf8")));
  if (!parsed.success) {
    throw new TypeError(`Cannot read benchmarks from ${file}: ${z.prettifyError(parsed.error)}`);
  }
  for (const { title, folder, ...rest } of parsed.data) {
    benchmarks.register({
      ...rest,
      title: title ?? rest.name,
      ...(folder === undefined ? {} : { folder: resolve(file, "..", folder) }),
    });
  }
}

/** The tools of a file; without one, those the questions are made for. */
async function toolsFor(chosen: readonly Benchmark[], file: string | undefined): Promise<ToolSet> {
  if (file !== undefined) {
    const config = parse(await readFile(file, "utf8")) as ToolsConfig;
    return loadTools(config, { folder: resolve(file, "..") });
  }
  const alike = chosen.filter(({ imitates }) => imitates !== undefined).length;
  if (alike === chosen.length) return taskTools(world);
  if (alike > 0) {
    throw new RangeError(
      "Cannot evaluate: synthetic stand-ins are answered with the invented world's search, real benchmarks are not; run them apart, or give --tools",
    );
  }
  aside("note: no --tools, so there is Python and no search");
  return new ToolSet([pythonTool()]);
}

function policyOf(model: string, options: EvalCommandOptions) {
  if (options.endpoint === undefined) return Policy.load(modelFolder(model));
  return Policy.remote(options.endpoint, {
    tokenizer: modelFolder(model),
    dialect: options.dialect,
    model: options.endpointModel,
    apiKeyEnv: options.apiKeyEnv,
  });
}

/** Says how far each benchmark is: in one line of a terminal, elsewhere at most twice a second. */
function progress(
  live: LiveLines | undefined,
): (sample: Sample, done: number, total: number) => void {
  let last = 0;
  const line = new ProgressLine();
  const show = progressLine(live);
  return ({ benchmark }, done, total) => {
    if (live) return show(() => line.count("answering", done, total));
    const now = performance.now();
    if (now - last < 500 && done < total) return;
    last = now;
    aside(`${done} of ${total} samples, the last of ${benchmark}`);
  };
}

const defined = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** `arpo-lab eval`: answers every question, evaluates the answers and writes the report. */
export async function evalModel(
  model: string,
  names: string[],
  options: EvalCommandOptions,
): Promise<void> {
  if (options.own !== undefined) await registerOwn(options.own);
  const chosen = (names.length > 0 ? names : benchmarks.standIns()).map(benchmarks.get);
  const policy = await policyOf(model, options);
  const tools = await toolsFor(chosen, options.tools);
  const folder = resolve(options.out);
  await outputFolder(folder, "evaluate");
  const release = await lockFolder(folder);
  const judge = judgeOf(options, folder);
  const live = process.stderr.isTTY ? liveLines(process.stderr) : undefined;
  try {
    const { temperature, topP, topK, minP, repetitionPenalty } = options;
    const { samples, questions, seed, prompt, mode, maxTokens, concurrency, asReference } = options;
    const evaluation = await evaluate(policy, chosen, {
      ...defined({ questions, prompt, mode, maxTokens, concurrency, asReference, judge }),
      ...{ folder, tools, samples, seed, limits: options.limit },
      ...(options.endpoint ? {} : { weights: await modelFingerprint(modelFolder(model)) }),
      ...(options.data === undefined ? {} : { data: resolve(options.data) }),
      ...(options.sampleTimeout === undefined ? {} : { timeoutMs: options.sampleTimeout * 1000 }),
      sampling: defined({ temperature, topP, topK, minP, repetitionPenalty }),
      signal: stoppable("early"),
      onSample: progress(live),
    });
    live?.set("");
    const page = join(folder, "report.html");
    await writeWhole(page, reportPage(evaluation));
    say(String(evaluation));
    if (judge) aside(costOf(judge));
    aside(`\nreport: ${page}`);
  } finally {
    live?.set("");
    judge?.close();
    release();
    await tools.dispose();
  }
}
