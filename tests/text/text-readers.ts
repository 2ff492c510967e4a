// Every function that reads text which a model, a tool, a page, an endpoint or a user wrote.
import { fileURLToPath } from "node:url";
import { errorHtml, errorText } from "../../kernel/display/format.js";
import { escapeHtml } from "../../kernel/display/html.js";
import { inspectShort, inspectText } from "../../kernel/display/inspect.js";
import { summarizeValue } from "../../kernel/display/summary.js";
import { nameAtEnd, specifierAt } from "../../kernel/compile/check/complete.js";
import { lastComment, parseComment } from "../../kernel/compile/check/documentation.js";
import { readHead } from "../../kernel/compile/magic/head.js";
import { moduleName } from "../../kernel/compile/magic/module-name.js";
import { hasMagic, readQuestion } from "../../kernel/compile/magic/read-cell.js";
import { asWritten, mark } from "../../kernel/contract/added.js";
import { matchesGlob } from "../../kernel/wire/history.js";
import { fromVersion3 } from "../../kernel/notebook/from-version-3.js";
import { ansiHtml } from "../../kernel/notebook/html/ansi.js";
import { highlight } from "../../kernel/notebook/html/highlight.js";
import {
  markdownHtml,
  mathHtml,
  safeLink,
  safePicture,
  sanitizeHtml,
} from "../../kernel/notebook/html/markdown.js";
import { outputHtml } from "../../kernel/notebook/html/page.js";
import { splitLines } from "../../kernel/notebook/notebook.js";
import { parseNotebook } from "../../kernel/notebook/read.js";
import { stackFrames } from "../../kernel/run/traceback.js";
import { isBase64 } from "../../kernel/server/contents/contents.js";
import { failureText } from "../../apps/cli/run/run-notebook.js";
import { isVerdict, readReply } from "../../src/eval/judge/read-reply.js";
import { trimGeneration } from "../../src/eval/infer/conversation.js";
import {
  asText,
  mathMetrics,
  normalizeForEvaluation,
  numericMetrics,
  qaMetrics,
} from "../../src/eval/metrics/answer-metrics.js";
import { judgeVerdict } from "../../src/eval/metrics/judge-verdict.js";
import { countBlocks, outputLength } from "../../src/eval/metrics/evaluate-item.js";
import { WordTokenizer } from "../../src/formats/trees/segments.js";
import { parseCsv } from "../../src/tasks/read-rows.js";
import { withoutSecrets } from "../../src/base/http/without-secrets.js";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { verlStep } from "../../src/interop/verl/verl-step.js";
import { callFormat } from "../../src/tools/calls/call-format.js";
import { type CallDialectName, callDialects } from "../../src/tools/calls/dialects/registry.js";
import { integerArithmetic } from "../../src/tools/python/python-tool.js";
import { parseOverride } from "../../src/run/config/override.js";
import { runLine } from "../../src/run/loggers/json-lines.js";
import { answerIn } from "../../src/view/explorer/page/tree/tree-facts.js";
import { questionOf } from "../../src/view/explorer/page/tree/header-words.js";
import { nearest } from "../../common/options/nearest.js";
import { splitOutput } from "../../src/formats/row/message-text.js";
import { parseLenient } from "../../src/formats/import-rollouts.js";
import { ChatTemplate, chatMl } from "../../src/model/tokenizer/chat-template.js";
import {
  extractAnswer,
  lastBoxed,
  lastBoxedOrTail,
  unboxed,
} from "../../src/reward/answers/extract-answer.js";
import { checkFormat, deepResearch } from "../../src/reward/rewards/deep-research.js";
import { normalizeAnswer, tokenF1 } from "../../src/reward/answers/qa-em.js";
import { exactMatch } from "../../src/reward/rewards/exact-match.js";
import { gsm8k } from "../../src/reward/rewards/gsm8k.js";
import { math } from "../../src/reward/rewards/math.js";
import { mathNumeric } from "../../src/reward/rewards/math-numeric.js";
import { substringMatch } from "../../src/reward/rewards/substring-match.js";
import { mathEquivalent, normalizeMath } from "../../src/reward/answers/math-equivalence.js";
import { numericEquivalent } from "../../src/reward/answers/numeric-equivalence.js";
import { tokenKinds } from "../../src/measure/entropy/model-tokens.js";
import { toolFormat } from "../../src/interop/serve/tools/tool-format.js";
import { asObject } from "../../src/tools/calls/dialects/json-call.js";
import { ToolReader } from "../../src/interop/serve/tools/tool-reader.js";
import { callContent, toolContent } from "../../src/base/text/call-input.js";
import { printable } from "../../src/base/text/printable.js";
import * as python from "../../src/base/text/python-text.js";
import { isResult, resultBlocks, resultIn } from "../../src/base/text/result-block.js";
import { calculate } from "../../src/tools/calculator/arithmetic.js";
import { bestPassage } from "../../src/tools/pages/best-passage.js";
import { htmlText } from "../../src/tools/pages/html-text.js";
import { shortenedSteps } from "../../src/tools/pages/remote-summarizer.js";
import { cacheKey, isChinese } from "../../src/tools/search/bright-data.js";
import { formatHits } from "../../src/tools/search/provider.js";
import { evaluationKey } from "../../src/tools/search/search-cache.js";

const tools = [
  { type: "function" as const, function: { name: "search" } },
  { type: "function" as const, function: { name: "python" } },
];
const format = (name: CallDialectName) => toolFormat(callDialects.get(name)!, tools, false);
const reader = (name: CallDialectName) => (text: string) => {
  const read = new ToolReader(format(name));
  for (let at = 0; at < text.length; at += 64) read.push(text.slice(at, at + 64));
  read.end();
};
const judged = (text: string) => ({ response: text, groundTruth: "42" });
const completion = (content: string) => ({
  choices: [{ finish_reason: "stop", message: { content } }],
});
const failure = (text: string): Error => Object.assign(new Error(text), { stack: text });
const template = new ChatTemplate(chatMl);
const tokenizer = await HfTokenizer.load(
  fileURLToPath(new URL("../../../data/models/tiny", import.meta.url)),
);

/** By name. What they throw is no matter. */
export const textReaders: Record<string, (text: string) => unknown> = {
  asWritten: (t) => asWritten(`${t}${mark}x.v${t}${mark}${t}`),
  numericEquivalent: (t) => numericEquivalent(t, "42"),
  "numericEquivalent, the other": (t) => numericEquivalent("(1,2)", t),
  "numericEquivalent, both": (t) => numericEquivalent(t, `${t} `),
  mathEquivalent: (t) => mathEquivalent(t, "1"),
  normalizeMath,
  lastBoxed,
  lastBoxedOrTail,
  unboxed,
  checkFormat,
  extractAnswer,
  normalizeAnswer,
  tokenF1: (t) => tokenF1(t, "a b"),
  "tokenF1, the truth": (t) => tokenF1("a b", [t, t]),
  exactMatch: (t) => exactMatch(judged(t)),
  "exactMatch, an answer": (t) => exactMatch(judged(`<answer>${t}</answer>`)),
  substringMatch: (t) => substringMatch(judged(`<answer>${t}</answer>`)),
  gsm8k: (t) => gsm8k(judged(t)),
  "math reward": (t) => math(judged(t)),
  "mathNumeric reward": (t) => mathNumeric(judged(`\\boxed{${t}}`)),
  deepResearch: (t) => deepResearch(judged(t)),
  "deepResearch, an answer": (t) =>
    deepResearch(judged(`<think>t</think><answer>\\boxed{${t}}</answer>`)),
  words: python.words,
  strip: python.strip,
  withoutArticles: python.withoutArticles,
  withoutPunctuation: python.withoutPunctuation,
  toolContent: (t) => toolContent(t, "python"),
  callContent: (t) => callContent(t, "python"),
  printable,
  resultBlocks: (t) => [...resultBlocks(t)],
  isResult,
  resultIn: (t) => resultIn(`<result>${t}`),
  normalizeForEvaluation: (t) => normalizeForEvaluation(t, { articles: false, punctuation: false }),
  asText: (t) => asText([t]),
  mathMetrics: (t) => mathMetrics(t, "42"),
  numericMetrics: (t) => numericMetrics(t, "42"),
  qaMetrics: (t) => qaMetrics(t, "42"),
  "qaMetrics, the truth": (t) => qaMetrics("42", `[${t}`),
  judgeVerdict: (t) => judgeVerdict(t, "a", "b"),
  countBlocks: (t) => countBlocks(t, "search"),
  outputLength,
  isVerdict,
  readReply: (t) => readReply(completion(t)),
  trimGeneration: (t) => trimGeneration(t, ["search", "python"]),
  calculate,
  htmlText,
  bestPassage: (t) => bestPassage(t, t, { pageLength: Infinity }),
  shortenedSteps: (t) => shortenedSteps([t, t]),
  formatHits: (t) => formatHits([{ description: t }, { description: `x${t}x` }] as never),
  cacheKey,
  isChinese,
  evaluationKey,
  asObject,
  "hermes calls": (t) => format("hermes").parse(t),
  "hermes, unfinished": (t) => format("hermes").unfinished(t, "search"),
  "json calls": (t) => format("json").parse(t),
  "json, unfinished": (t) => format("json").unfinished(t, "search"),
  "tag calls": (t) => format("tags").parse(t),
  "tag calls, unfinished": (t) => format("tags").unfinished(t, "search"),
  "hermes, piece by piece": reader("hermes"),
  "json, piece by piece": reader("json"),
  "tags, piece by piece": reader("tags"),
  "chat template": (t) => template.render([{ role: "user", content: t }]),
  tokenKinds: (t) => tokenKinds([t, ...t.slice(0, 1000)]),
  WordTokenizer: (t) => new WordTokenizer().encode(t),
  ...Object.fromEntries(
    callDialects.built.map((dialect) => {
      const { parse } = callFormat(dialect, tokenizer, []);
      const read = (t: string) => [
        parse(t),
        parse(`<tool_call><function=a>${t}</function></tool_call>`),
      ];
      return [`calls of a template: ${dialect.name}`, read];
    }),
  ),
  withoutSecrets: (t) => withoutSecrets({ authorization: "Bearer sk-0123456789abcdef" }, t),
  "tokenizer: encode": (t) => tokenizer.encode(t),
  answerIn,
  questionOf,
  nearest: (t) => nearest(t, ["search", "python"]),
  integerArithmetic,
  parseCsv,
  parseOverride,
  runLine,
  verlStep,
  parseLenient,
  splitOutput,
  isBase64,
  matchesGlob: (t) => matchesGlob("*a*a*?*(*x", t),
  moduleName,
  hasMagic,
  readQuestion,
  readHead,
  nameAtEnd,
  specifierAt: (t) => specifierAt(t, t.length),
  lastComment,
  parseComment: (t) => parseComment(`/**${t}*/`),
  "notebook of version 3": (t) =>
    fromVersion3({
      ...{ nbformat: 3, nbformat_minor: 0, metadata: {} },
      worksheets: [{ cells: [{ cell_type: "heading", level: 1, source: t }] }],
    }),
  parseNotebook,
  ansiHtml,
  markdownHtml,
  mathHtml: (t) => mathHtml(t, true),
  "highlight, TypeScript": (t) => highlight(t, "ts"),
  "highlight, Python": (t) => highlight(t, "python"),
  "highlight, shell": (t) => highlight(t, "bash"),
  "highlight, JSON": (t) => highlight(t, "json"),
  sanitizeHtml,
  safeLink,
  safePicture,
  "sanitizeHtml, a style": (t) => sanitizeHtml(`<p style="${t}">`),
  escapeHtml,
  splitLines,
  "output: stream": (t) => outputHtml({ output_type: "stream", name: "stdout", text: t }),
  "output: error": (t) => outputHtml({ output_type: "error", ename: t, evalue: t, traceback: [t] }),
  ...Object.fromEntries(
    [
      "text/plain",
      "text/markdown",
      "text/html",
      "text/latex",
      "image/svg+xml",
      "image/png",
      "application/javascript",
      "application/json",
    ].map((mime) => [
      `output: ${mime}`,
      (t: string) =>
        outputHtml({ output_type: "display_data", data: { [mime]: t }, metadata: {} } as never),
    ]),
  ),
  failureText: (t) =>
    failureText(
      { index: 0, name: "E", message: t, traceback: t.split("\n") } as never,
      "a.ipynb",
      true,
    ),
  stackFrames,
  errorText: (t) => errorText(failure(t)),
  errorHtml: (t) => errorHtml(failure(t)),
  inspectText: (t) => inspectText({ t }),
  inspectShort,
  summarizeValue,
};
