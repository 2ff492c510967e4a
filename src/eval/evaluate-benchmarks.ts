import {
  checkOptions,
  optionsFor,
  type OptionRules,
  rulesWithout,
  valuesOf,
} from "../../common/options/check-options.js";
import { readFile } from "#platform/files";
import { join } from "#platform/path";
import { type Given, option, rulesOf, unset } from "../../common/options/option-table.js";
import { shown } from "../../common/options/check-arguments.js";
import { defined } from "../../common/options/defined.js";
import { ProgressLine } from "../base/show/progress-line.js";
import { watchAs } from "../base/show/show-as.js";
import type { Policy } from "../policy/policy.js";
import type { Benchmark, LoadedBenchmark } from "./benchmarks/benchmark.js";
import { benchmarks } from "./benchmarks/benchmarks.js";
import { readBenchmark } from "./benchmarks/read-benchmark.js";
import { infer, inferRules, promptFor, samplesTable, settingsFor } from "./infer/infer.js";
import { SampleJournal } from "./infer/journal.js";
import { type InferenceOptions, inferenceSettings } from "./infer/options.js";
import { toolSetOf } from "../tools/tool-set.js";
import { stoppedTooEarly } from "./evaluate-tasks.js";
import { benchmarkReport } from "./report/benchmark-report.js";
import { Evaluation, type EvaluationSettings } from "./report/evaluation.js";
import { type AnswerJudge, scoreSamples } from "./report/score-samples.js";
import { writeResultFiles, writeWhole } from "./report/result-files.js";
import { outputFolder } from "../model/files/model-folder.js";

/** What an evaluation on benchmarks can be told besides how questions are asked. */
const benchmarksTable = {
  /**
   * Keeps finished samples and takes the result files. An evaluation that was stopped, killed too,
   * goes on there without making a finished sample again, and ends with the same bytes. Default:
   * nothing is kept.
   */
  folder: unset(valuesOf<string>("path?")),
  /**
   * The folder that holds `NAME/test.jsonl` of the real benchmarks. Default: none; stand-ins need
   * none.
   */
  data: unset(valuesOf<string>("path?")),
  /**
   * Tells the policy's weights from others of the same name; other weights are refused in the
   * folder. Default: weights are not compared.
   */
  weights: unset(valuesOf<string>("text?")),
  /** Says whether predictions are right. Default: the metrics do. */
  judge: unset(valuesOf<AnswerJudge>("object?")),
  /** Show how far it is while it goes on, where a notebook looks. Default: true. */
  live: option(valuesOf<boolean>("boolean?"), true),
};

export interface EvaluateOptions
  extends InferenceOptions, Given<typeof samplesTable>, Given<typeof benchmarksTable> {}

const rules: OptionRules<EvaluateOptions> = {
  ...rulesWithout(inferRules, "journal", "enough"),
  ...rulesOf(benchmarksTable),
};

/** What may be evaluated: a registered name, a benchmark, or one that is loaded. */
export type Evaluable = string | Benchmark | LoadedBenchmark;

const load = (which: Evaluable, folder: string | undefined): Promise<LoadedBenchmark> => {
  if (typeof which === "string") return benchmarks.load(which, { folder });
  if (typeof which !== "object" || which === null) {
    throw new TypeError(
      `Cannot evaluate: there must be a list of tasks or a benchmark, got ${shown(which)}`,
    );
  }
  return "items" in which ? Promise.resolve(which) : readBenchmark(which, { folder });
};

const settingsFile = "evaluation.json";

/** Refuses to go on in a folder whose samples were made otherwise. */
async function checkFolder(folder: string, settings: EvaluationSettings): Promise<void> {
  const path = join(folder, settingsFile);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return;
  const before = JSON.parse(text) as EvaluationSettings;
  const flat = ({ asked, ...rest }: EvaluationSettings) => ({ ...rest, ...asked });
  const [old, now] = [flat(before), flat(settings)] as Record<string, unknown>[];
  for (const [key, value] of Object.entries(now!)) {
    // Benchmarks may be added; what decides a sample may not change. A judge may.
    if (key === "judge" || !(key in old!) || JSON.stringify(old![key]) === JSON.stringify(value))
      continue;
    throw new Error(
      `Cannot go on in ${folder}: its samples were made with ${key} ${JSON.stringify(old![key])}, got ${JSON.stringify(value)}; choose another folder`,
    );
  }
  settings.asked = { ...before.asked, ...settings.asked };
}

/** Answers benchmarks, scores the answers and reports, with what was finished before in the same folder. */
export async function evaluateBenchmarks(
  policy: Policy,
  which: Evaluable | readonly Evaluable[],
  options: EvaluateOptions,
): Promise<Evaluation> {
  checkOptions("evaluate", options, rules);
  const { folder, data, judge, signal } = options;
  const tools = options.tools && toolSetOf("evaluate", options.tools);
  const list = (Array.isArray(which) ? which : [which]) as readonly Evaluable[];
  const loaded = await Promise.all(list.map((one) => load(one, data)));
  const names = loaded.map(({ benchmark }) => benchmark.name);
  if (names.length === 0 || new Set(names).size < names.length) {
    throw new RangeError(
      `Cannot evaluate: the benchmarks must be one or more, each once, got ${names.join(", ") || "none"}`,
    );
  }
  const { mode, asReference, maxTokens, chained, timeoutMs, limits, seed } =
    inferenceSettings(options);
  const settings: EvaluationSettings = {
    ...{ policy: policy.name, seed, mode, asReference, maxTokens, chained, timeoutMs, limits },
    ...defined({ weights: options.weights }),
    tools: tools?.tags ?? [],
    ...(judge ? { judge: judge.name } : {}),
    asked: Object.fromEntries(
      loaded.map(({ benchmark, sha256 }) => [
        benchmark.name,
        {
          prompt: promptFor(benchmark, options.prompt),
          sampling: { ...settingsFor(benchmark, options).sampling },
          sha256,
        },
      ]),
    ),
  };
  let journal: SampleJournal | undefined;
  if (folder !== undefined) {
    await outputFolder(folder, "evaluate");
    await checkFolder(folder, settings);
    await writeWhole(join(folder, settingsFile), `${JSON.stringify(settings, undefined, 2)}\n`);
    journal = await SampleJournal.open(join(folder, "samples.jsonl"));
  }
  const enough = new AbortController();
  const stop = () => enough.abort();
  const shown =
    options.live === false ? undefined : watchAs("Work", { after: "the answers it has", stop });
  const line = new ProgressLine();
  const tell = (done: number, of: number) =>
    shown?.tell?.(line.count("answering", done, of), { share: done / of });
  try {
    let asked = 0;
    shown?.tell?.("answering");
    const samples = await infer(policy, loaded, {
      ...optionsFor(inferRules, options),
      ...{ tools, journal, enough: enough.signal },
      onSample: (sample, done, total) => {
        asked = total;
        tell(done, total);
        options.onSample?.(sample, done, total);
      },
    });
    const stopped = samples.length < asked ? { answers: samples.length, of: asked } : undefined;
    if (samples.length === 0 && stopped) throw stoppedTooEarly();
    const answered = loaded.filter(({ benchmark }) =>
      stopped ? samples.some((sample) => sample.benchmark === benchmark.name) : true,
    );
    const scored = await Promise.all(
      answered.map(({ benchmark }) => {
        const own = samples.filter((sample) => sample.benchmark === benchmark.name);
        return scoreSamples(benchmark, own, { judge, signal });
      }),
    );
    const reports = answered.map((one, i) =>
      benchmarkReport(one, scored[i]!, { judged: judge !== undefined }),
    );
    const evaluation = new Evaluation(settings, reports, scored.flat(), policy.tokenizer, stopped);
    // What is finished is in the journal: the same call goes on there.
    if (folder !== undefined && !stopped) {
      await writeResultFiles(evaluation, folder);
      await writeWhole(join(folder, "report.txt"), `${String(evaluation)}\n`);
    }
    return evaluation;
  } finally {
    shown?.done();
    await journal?.close();
  }
}
