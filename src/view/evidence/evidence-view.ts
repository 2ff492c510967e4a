import { escapeHtml } from "../../../common/picture/escape.js";
import { type ChangeName, changes } from "../../measure/evidence/changes/registry.js";
import type { Evidence } from "../../measure/evidence/evidence.js";
import type { Outcome } from "../../measure/evidence/evidence-values.js";
import { pageColours } from "../draw/figure-theme.js";
import { header } from "../page/header.js";
import { type Cell, table, wide } from "../page/table.js";
import { View } from "../page/view.js";
import { cut, many, two } from "../page/words.js";
import { evidencePicture, shareText, verdictWords } from "./evidence-picture.js";

const style = `
${pageColours(".arpo-evidence")}
.arpo-evidence .arpo-answers{display:flex;flex-wrap:wrap;gap:2px 10px}
.arpo-evidence td pre{min-width:240px}
.arpo-evidence td .arpo-answers{min-width:190px}
.arpo-evidence details{border:1px solid var(--line);border-radius:8px;margin:6px 0;padding:2px 10px}
`;

const question = "Does the answer rest on the evidence?";

/** Characters of a result that the view shows. */
const longest = 2000;

const shareWords = ({ value, low, high }: Outcome["survived"]): string =>
  Number.isNaN(value) ? "–" : `${shareText(value)} (${shareText(low)} to ${shareText(high)})`;

const rewardWords = ({ value, low, high }: Outcome["reward"]): string =>
  Number.isFinite(high - low) ? `${two(value)} (${two(low)} to ${two(high)})` : two(value);

/** How often each answer was given. */
function answersHtml({ answers }: Outcome): string {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const list = [...counts].sort((a, b) => b[1] - a[1]);
  const told = list
    .slice(0, 8)
    .map(
      ([answer, count]) =>
        `<span>${count} × <code>${escapeHtml(cut(answer, 60) || "no answer")}</code></span>`,
    );
  const more = list.length > 8 ? [`<span>${list.length - 8} other answers</span>`] : [];
  return `<div class="arpo-answers">${[...told, ...more].join("")}</div>`;
}

const number = (text: string): Cell => ({ html: escapeHtml(text), isNumber: true });

/** The lines of a change: what followed, and what it says. */
function linesOf(evidence: Evidence, at: number): Cell[][] {
  const { kept, changed } = evidence.results[at]!;
  const text = (outcome: Outcome): Cell => ({
    html: `<pre tabindex="0">${escapeHtml(cut(outcome.text, longest)) || "(empty)"}</pre>`,
  });
  const line = (name: ChangeName | "kept", outcome: Outcome, verdict: string): Cell[] => [
    ...[{ html: name === "kept" ? "as it was" : name, isHead: true }, text(outcome)],
    ...[number(shareWords(outcome.survived)), number(rewardWords(outcome.reward))],
    ...[{ html: answersHtml(outcome) }, verdict],
  ];
  return [
    line("kept", kept, ""),
    ...evidence.settings.changes.flatMap((name) => {
      const one = changed[name];
      return one ? [line(name, one, verdictWords[one.verdict])] : [];
    }),
  ];
}

/** Whether answers rest on tool results, as a picture and tables; shows itself. */
export class EvidenceView extends View<Evidence> {
  protected override readonly page = { name: "evidence", style };

  override get summary(): string {
    return String(this.payload);
  }

  /** The answer in a sentence. */
  get #found(): string {
    const [kept, ...changed] = this.payload.totals;
    if (kept === undefined) return "No result leads to an answer.";
    const told = changed.map(({ change, survived }) => `${shareText(survived.value)} ${change}`);
    return `The answer stays in ${[`${shareText(kept.survived.value)} of forks with the result as it was`, ...told].join(", ")}.`;
  }

  override picture(): string {
    return evidencePicture(this.payload, `${question} ${this.#found}`, "file");
  }

  protected override still(): string {
    const { results, settings, spent } = this.payload;
    const about = `${many(results.length, "tool result")}, ${settings.tries} forks each of ${settings.policy}, seed ${settings.seed}, ${many(spent.tokens, "token")}`;
    const heads = ["the result is", "text", "same answer", "score", "answers", "so the answer"];
    const each = results.map(({ node, tag, input, trajectory, answer }, i) => {
      const name = `<b>${escapeHtml(cut(`${tag}(${input.trim()})`, 90))}</b> node ${node}, trajectory ${trajectory}: <code>${escapeHtml(cut(answer, 60) || "no answer")}</code>`;
      return `<details><summary>${name}</summary>${wide(`node ${node}`, table(linesOf(this.payload, i), heads))}</details>`;
    });
    const said = changes
      .filter(({ name }) => settings.changes.includes(name))
      .map((one) => `<b>${one.name}</b> ${one.said}`);
    const left = spent.left.map((words) => `<p class="arpo-notice">${escapeHtml(words)}</p>`);
    return [
      header(question, about),
      `<p>${escapeHtml(this.#found)}</p>`,
      wide("evidence", evidencePicture(this.payload, question, "page")),
      `<p class="arpo-muted">A change of a result: ${said.join("; ")}. Falls: the interval lies below that of the result as it was. Stays: all of the interval is above 50%.</p>`,
      ...[...each, ...left],
    ].join("");
  }

  protected override data() {
    return {};
  }
}
