import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, optionsOf } from "../../../common/options/check-options.js";
import { Random } from "../../base/random/random.js";
import { resultBlock } from "../../base/text/result-block.js";
import { completeTask, type Task, type TaskInput } from "../task.js";
import { type Corruption, corruptionRules, type Decide, type Expert } from "./task-set.js";

/** A trajectory as an expert wrote it: model text and tool results in turn. */
export interface Demonstration {
  task: Task;
  segments: { kind: "model" | "result"; text: string }[];
}

/** Runs a tool for an expert and returns the text the model would read. */
type RunTool = (tag: string, input: string) => string | Promise<string>;

const breakages: ((text: string) => string)[] = [
  (text) => text.replace("</think>", ""),
  (text) => text.replace(/\\boxed\{(.*)\}/, "$1"),
  (text) => text.replace("</answer>", ""),
  (text) => text.replace(/^<think>.*?<\/think>/, ""),
];

/**
 * Lets an expert solve a task with real tools, erring as often as the corruption says.
 *
 * @param given the task to solve
 * @param expert decides the next step from the task and the results so far
 * @param run calls a tool by its tag and returns its answer
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { demonstrate } from "arpo-lab/run";
 *
 * const task = { prompt: [{ role: "user", content: "What is 6*7?" }] };
 * const { segments } = await demonstrate(
 *   task,
 *   (_task, results) =>
 *     results.length === 0
 *       ? { text: "<calc>6*7</calc>", call: { tag: "calc", input: "6*7" } }
 *       : { text: `<answer>\\boxed{${results[0]}}</answer>` },
 *   (_tag, input) => (input === "6*7" ? "42" : "?"),
 * );
 * assert.equal(segments[1].text, " <result>\n42\n</result>");
 * assert.match(segments[2].text, /boxed\{42\}/);
 * ```
 */
export async function demonstrate(
  given: TaskInput,
  expert: Expert,
  run: RunTool,
  options: {
    /** What errors are drawn from. Default: a stream of its own, the same each time. */
    random?: Random;
    /** How often the expert errs on purpose. Default: never. */
    corruption?: Corruption;
    /**
     * Whether the task is over after a result, without a last word. Default: it goes on until the
     * expert makes no call.
     */
    over?: () => boolean;
  } = {},
): Promise<Demonstration> {
  checkArguments(
    "demonstrate",
    { task: given, expert, run },
    { task: "object", expert: "function", run: "function" },
  );
  checkOptions("demonstrate", options, {
    random: "random?",
    corruption: optionsOf<Corruption>(corruptionRules),
    over: "function?",
  });
  const task = completeTask("demonstrate", given, 0);
  const { random = Random.from(0), corruption = {} } = options;
  const { decisions = 0, format = 0 } = corruption;
  const draws = random.split("decisions");
  const choose: Decide = (right, wrong) =>
    decisions > 0 && draws.uniform() < decisions ? wrong(draws) : right;
  const segments: Demonstration["segments"] = [];
  const results: string[] = [];
  for (;;) {
    const { text, call } = expert(task, results, choose);
    segments.push({ kind: "model", text });
    if (!call) break;
    const result = await run(call.tag, call.input);
    results.push(result);
    segments.push({ kind: "result", text: resultBlock(result) });
    if (options.over?.()) break;
  }
  const slip = random.split("format");
  if (format > 0 && slip.uniform() < format) {
    const last = segments.findLast(({ kind }) => kind === "model")!;
    last.text = slip.choose(breakages)(last.text);
  }
  return { task, segments };
}
