import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, fromTo, type OptionRules } from "../../../common/options/check-options.js";
import { randomUUID } from "#platform/uuid";
import { program } from "#pages/evaluation";
import { type BenchmarkReport, byQuestion } from "../../eval/report/benchmark-report.js";
import { columnsOf, comparisonOf, type Evaluation, madeBy } from "../../eval/report/evaluation.js";
import { isRight, type ScoredSample, wasMade } from "../../eval/report/score-samples.js";
import { closedPageMeta } from "../../../common/picture/closed-page.js";
import { escapeHtml as escape } from "../../../common/picture/escape.js";
import { makePayload } from "../explorer/make-payload.js";
import { explorerStyle } from "../explorer/style.js";
import { table, wide } from "../page/table.js";
import { carrierHtml, View } from "../page/view.js";
import { accuracyChart, accuracyPicture, passChart, toolChart } from "./charts.js";
import { questionTree } from "./question-tree.js";

export interface ReportOptions {
  /**
   * Bytes that tokens of questions may take; the questions after that have their text only.
   * Default: 8,000,000.
   */
  tokenBytes?: number;
  /**
   * What the page's own element is called; the same evaluation then gives the same bytes. Default:
   * a random one.
   */
  id?: string;
}

const rules: OptionRules<ReportOptions> = { tokenBytes: fromTo(0, Infinity), id: "text?" };

const style = `
.arpo-evaluation .arpo-notice{font-weight:600}
.arpo-evaluation .arpo-chart{margin:12px 0;overflow-x:auto}
.arpo-evaluation figcaption{font-weight:600;margin:0 0 4px}
.arpo-evaluation td:first-child{white-space:nowrap}
.arpo-evaluation details{border:1px solid var(--line);border-radius:8px;margin:4px 0;padding:2px 10px}
.arpo-evaluation summary{cursor:pointer;overflow-wrap:anywhere}
.arpo-evaluation .arpo-marks{font-family:ui-monospace,monospace;white-space:pre}
`;

const list = (title: string, lines: readonly string[]) =>
  lines.length === 0
    ? ""
    : `<h4>${title}</h4><ul>${lines.map((line) => `<li>${escape(line)}</li>`).join("")}</ul>`;

function figures(reports: readonly BenchmarkReport[]): string {
  const columns = columnsOf(reports);
  const rows = reports.map((report) =>
    columns.map(({ cell }, i) =>
      i === 0 ? cell(report) : { html: escape(cell(report)), isNumber: true },
    ),
  );
  const heads = columns.map(({ title, doc }) => ({
    html: `<span title="${escape(doc)}">${escape(title)}</span>`,
  }));
  return wide("figures", table(rows, heads));
}

/** + right, - wrong, ? could not be made. */
const mark = (sample: ScoredSample) => (wasMade(sample) ? (isRight(sample) ? "+" : "-") : "?");
const said = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

function sampleHtml(sample: ScoredSample): string {
  const { metrics, turn, prediction, status, error, judge_error, output } = sample;
  const facts = [
    `EM ${metrics.em}`,
    `F1 ${metrics.f1.toFixed(3)}`,
    `equal expressions ${metrics.math_equal}`,
    ...(metrics.llm_equal === undefined ? [] : [`judge ${metrics.llm_equal}`]),
    `${metrics.python_calls} Python calls, ${metrics.search_calls} searches`,
    `${status}${error === undefined ? "" : `: ${error}`}`,
    ...(sample.failed_tool_calls > 0 ? [`${sample.failed_tool_calls} tool calls failed`] : []),
    ...(judge_error === undefined ? [] : [`judge failed: ${judge_error}`]),
  ];
  const reply = metrics.llm_response;
  return (
    `<p><b>${mark(sample)} sample ${turn}</b>: ${escape(prediction || "no prediction")} <span class="arpo-muted">${escape(facts.join("; "))}</span></p>` +
    (reply === undefined ? "" : `<p class="arpo-muted">The judge: ${escape(reply)}</p>`) +
    `<pre>${escape(output)}</pre>`
  );
}

/** What a question can be chosen by. */
function kinds(samples: readonly ScoredSample[]): string {
  const right = samples.filter(isRight).length;
  const faulty = samples.some(
    (s) => !wasMade(s) || s.failed_tool_calls > 0 || s.judge_error !== undefined,
  );
  return [
    right === samples.length ? "right" : right === 0 ? "wrong" : "split",
    ...(faulty ? ["fault"] : []),
    ...(samples.some(({ status }) => status === "timeout" || status === "context") ? ["cut"] : []),
  ].join(" ");
}

/** A report without its element: figures, plots, and every question down to the tokens of its samples. */
function reportBody(evaluation: Evaluation, key: string, tokenBytes: number): string {
  const { benchmarks, settings, notice } = evaluation;
  let left = tokenBytes;
  const explorer = (name: string, samples: readonly ScoredSample[]): string => {
    // Answers that were read from files have no tokens.
    if (samples.every(({ steps }) => steps.every(({ tokens }) => tokens.length === 0))) return "";
    const { index } = samples[0]!;
    const { tree, scored } = questionTree(evaluation, name, index);
    const { tokenizer } = evaluation;
    const safe = carrierHtml("tree", makePayload(tree, { scored, tokenizer }));
    if (safe.length > left) {
      return `<p class="arpo-muted">Its tokens are left out to keep this page small.</p>`;
    }
    left -= safe.length;
    return `<div id="evaluation-${key}-${name}-${index}" class="arpo-view arpo-explorer" data-explorer><div data-picture></div>${safe}</div>`;
  };
  const question = (report: BenchmarkReport, samples: ScoredSample[]): string => {
    const { index, input, answer } = samples[0]!;
    const view = explorer(report.name, samples);
    return (
      `<details data-question data-is="${kinds(samples)}"><summary><span class="arpo-marks">${samples.map(mark).join("")}</span> ${index + 1}. ${escape(input)}</summary>` +
      `<p>Right: ${escape(said(answer))}</p>${samples.map(sampleHtml).join("")}${view}</details>`
    );
  };
  const asked = Object.entries(settings.asked).filter(([name]) =>
    benchmarks.some((report) => report.name === name),
  );
  const sections = benchmarks.map((report) => {
    const own = byQuestion(evaluation.samples.filter((s) => s.benchmark === report.name));
    return `<h3>${escape(report.name)}</h3><p class="arpo-muted">${escape(report.title)}</p>${own.map((samples) => question(report, samples)).join("")}`;
  });
  const choice =
    `<p class="arpo-bar"><label>Show <select data-choice disabled><option value="all">all questions</option>` +
    `<option value="wrong">never right</option><option value="split">sometimes right</option><option value="right">always right</option>` +
    `<option value="cut">cut off by time or context</option><option value="fault">faults of the machinery</option></select></label> <output data-count></output></p>`;
  return (
    `<p class="arpo-notice">${escape(notice)}</p>` +
    `<p>${escape(madeBy(settings))}. Shares in per cent, with 95% intervals.</p>` +
    figures(benchmarks) +
    list("Faults of the machinery", evaluation.faults) +
    list("Published figures", benchmarks.flatMap(comparisonOf)) +
    accuracyChart(benchmarks) +
    passChart(benchmarks) +
    toolChart(benchmarks) +
    `<details><summary>How it was made</summary><pre>${escape(JSON.stringify({ ...settings, asked: Object.fromEntries(asked) }, undefined, 2))}</pre></details>` +
    `<h3>Questions</h3><p class="arpo-muted">+ a right sample, - a wrong one, ? one that could not be made.</p>${choice}${sections.join("")}`
  );
}

/** A report of an evaluation; it needs no network, and works without a program too, up to the texts. */
export class EvaluationView extends View<Evaluation> {
  protected override readonly page = {
    ...{ name: "evaluation", style: style + explorerStyle, program },
  };
  protected override readonly key: string;

  constructor(
    evaluation: Evaluation,
    readonly options: ReportOptions = {},
  ) {
    super(evaluation);
    this.key = options.id ?? randomUUID();
  }

  override get summary(): string {
    return String(this.payload);
  }

  override picture(): string {
    return accuracyPicture(this.payload.benchmarks);
  }

  protected override still(): string {
    return reportBody(this.payload, this.key, this.options.tokenBytes ?? 8_000_000);
  }

  protected override data() {
    return {};
  }
}

/**
 * The report of an evaluation as a page of its own, for a file. The same evaluation gives the same
 * bytes; times are not in it.
 *
 * @param evaluation the evaluation, from `evaluate`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { evaluate } from "arpo-lab/run";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 * import { reportPage } from "arpo-lab/view";
 *
 * const policy = new ScriptedPolicy(() => ({ text: "<answer>\\boxed{520}</answer>" }));
 * const evaluation = await evaluate(policy, "aime24-lookalike", { samples: 2 });
 * const page = reportPage(evaluation);
 * assert.match(page, /^<!doctype html>\n<!-- Synthetic stand-ins, not the benchmarks/);
 * assert.equal(page, reportPage(evaluation));
 * ```
 */
export function reportPage(evaluation: Evaluation, options: ReportOptions = {}): string {
  checkArguments(
    "show an evaluation",
    { evaluation },
    { evaluation: { benchmarks: "list", samples: "list", settings: "object" } },
  );
  checkOptions("show an evaluation", options, rules);
  const notice = evaluation.notice.replaceAll("--", "- -");
  const title = escape(`Evaluation of ${evaluation.settings.policy}`);
  return (
    `<!doctype html>\n<!-- ${notice} -->\n<html lang="en"><head><meta charset="utf-8">${closedPageMeta}<meta name="viewport" content="width=device-width"><title>${title}</title>` +
    `<style>:root{color-scheme:light dark}body{font:14px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;margin:1rem auto;max-width:1100px;padding:0 1rem}</style></head>` +
    `<body><h1>${title}</h1>${new EvaluationView(evaluation, { ...options, id: options.id ?? "report" }).html()}</body></html>\n`
  );
}
