import { program } from "#pages/imported";
import { randomUUID } from "#platform/uuid";
import { escapeHtml as escape } from "../../../common/picture/escape.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, fromTo, type OptionRules } from "../../../common/options/check-options.js";
import { type ImportedPrompt, ImportedRollouts } from "../../formats/imported-rollouts.js";
import type { Scored } from "../../reward/scored.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { Board } from "../board/board.js";
import { spreadOut } from "../page/spread-out.js";
import { makePayload, titleOfImported } from "../explorer/make-payload.js";
import { explorerStyle } from "../explorer/style.js";
import { many, numberText } from "../page/words.js";
import { treePicture } from "../explorer/tree-picture.js";
import { header } from "../page/header.js";
import type { RowFacts } from "../page/row-search.js";
import { searchBar } from "../page/search-bar.js";
import { table, wide } from "../page/table.js";
import { carrierHtml, View } from "../page/view.js";
import { findingsList, marksOf } from "./findings-list.js";

const shortest = (text: string, length: number) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};

/** What the files carry, and what stands in the place of what they do not. */
function tableOfCarried({ carried }: ImportedRollouts): string {
  const rows = carried.map(({ quantity, from }) => [
    { html: escape(quantity), isHead: true },
    from,
  ]);
  const before = "<caption>What the files carry</caption>";
  return wide("what the files carry", table(rows, undefined, { before }));
}

/** What could not be read, or was not kept. */
function notices({ broken, left, rows, files, prompts }: ImportedRollouts): string {
  const unread = files.filter(({ format }) => format === undefined);
  const told = [
    ...(left > 0
      ? [`${left} of ${rows} trajectories are counted in the curves only: no tree is made of them.`]
      : []),
    ...(prompts.length === 0 ? ["The files hold numbers of rollouts, and no texts."] : []),
    ...broken.map(({ file, line, reason }) => `Broken: ${file}, line ${line}: ${reason}`),
    ...(unread.length > 0
      ? [`No rollouts in ${shortest(unread.map(({ path }) => path).join(", "), 300)}`]
      : []),
  ];
  return told.map((text) => `<p class="arpo-notice">${escape(text)}</p>`).join("");
}

const number = (value: number | undefined) => numberText(value, 4);

/** A prompt's trajectories: score and its parts, how each ended, where it stands, its last words. */
function rowTable({ rows, question }: ImportedPrompt, tree: RolloutTree): string {
  const { groundTruth } = tree.task as { groundTruth?: string | readonly string[] };
  const asked =
    `<p>${escape(shortest(question, 400))}</p>` +
    (groundTruth === undefined
      ? ""
      : `<p>Right: ${escape(shortest([groundTruth].flat().join(" or "), 200))}</p>`);
  if (rows.length === 0) return asked;
  const parts = [...new Set(rows.flatMap((row) => Object.keys(row.numbers ?? {})))].slice(0, 8);
  const heads = ["trajectory", "score", ...parts, "ended", "calls", "from", "its last words"];
  const lines = rows.map((row, i) => {
    const cells = [
      String(i),
      number(row.score),
      ...parts.map((name) => number(row.numbers?.[name])),
    ];
    const { end, calls } = tree.trajectories[i]!;
    const path = tree.path(tree.trajectories[i]!.leaf);
    const said = path.slice(path.findLastIndex(({ kind }) => kind === "tool") + 1);
    const text = said.map((node) => node.text).join("");
    const from = `${row.place.file.split(/[\\/]/).at(-1)}:${row.place.line}`;
    const ended = row.end === undefined ? "–" : end;
    // Its last words are a text, also where they are a number.
    const last = { html: escape(shortest(text.slice(-200), 120)) };
    return [...cells, ended, String(calls), from, last];
  });
  return asked + wide("trajectories", table(lines, heads));
}

/** How much of an import its page holds. */
export interface ImportedViewOptions {
  /** Characters that the trees may take; the prompts after that say so (default 8,000,000). */
  treeBytes?: number;
  /** Where a server shows the tree of a prompt that is left out. */
  address?: (prompt: number) => string;
  /** Scores of prompts whose files have none, by their numbers. */
  scores?: ReadonlyMap<number, Scored>;
  /** Show the board of the files' steps below. Default: true, where there are several. */
  board?: boolean;
  /** What the page's own element is called; the same import then gives the same bytes. */
  id?: string;
}

const importedRules: OptionRules<ImportedViewOptions> = {
  treeBytes: fromTo(0, Infinity),
  address: "function?",
  scores: "items?",
  board: "boolean?",
  id: "text?",
};

/** More prompts than this are not listed one by one. */
const mostListed = 5000;

const style = `
.arpo-imported details{border:1px solid var(--line);border-radius:8px;margin:4px 0;padding:2px 10px}
.arpo-imported summary{overflow-wrap:anywhere;opacity:1}
.arpo-imported summary span{font-variant-numeric:tabular-nums}
.arpo-imported td:last-child{overflow-wrap:anywhere;min-width:7em}
.arpo-imported .arpo-finding{border-left:3px solid var(--accent)}
.arpo-imported a{color:var(--accent)}
.arpo-imported tr.arpo-found td{background:var(--soft)}
.arpo-imported [data-choose=least],.arpo-imported [data-choose=most]{width:5em}
.arpo-imported h3{font-size:inherit;margin:10px 0 4px}
`;

const digits = (x: number) => numberText(x, 4);

/** What a prompt's line says: where it stands, how many trajectories, their scores, what was asked. */
function headOf({ index, step, rows, scores, question }: ImportedPrompt, tree: number): string {
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const count = rows.length || tree;
  const told = [
    ...(step === undefined ? [] : [`step ${step}`]),
    many(count, "trajectory", "trajectories"),
    ...(scores.length === 0
      ? []
      : [
          `score ${digits(mean)}`,
          ...(count > 1
            ? [`from ${digits(Math.min(...scores))} to ${digits(Math.max(...scores))}`]
            : []),
        ]),
  ];
  const short = question.replace(/\s+/g, " ").trim();
  return `<span>${index + 1}. ${escape(told.join(" · "))}:</span> ${escape(short.length > 160 ? `${short.slice(0, 159)}…` : short)}`;
}

/**
 * Other people's rollouts to look around in: what the files carry, the board of their steps, and every
 * prompt with its tree in the explorer; shows itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readRollouts } from "arpo-lab/experimental/import";
 * import { ImportedView } from "arpo-lab/experimental/import";
 *
 * const imported = readRollouts([{ input: "6*7?", output: "42", score: 1, step: 1 }]);
 * assert.match(new ImportedView(imported).html(), /6\*7\?/);
 * ```
 */
export class ImportedView extends View<ImportedRollouts> {
  protected override readonly page = {
    ...{ name: "imported", style: style + explorerStyle, program },
  };
  protected override readonly key: string;

  constructor(
    readonly imported: ImportedRollouts,
    readonly options: ImportedViewOptions = {},
  ) {
    super(imported);
    checkArguments(
      "show imported rollouts",
      { imported },
      { imported: { prompts: "list", carried: "list" } },
    );
    checkOptions("show imported rollouts", options, importedRules);
    this.key = options.id ?? randomUUID();
  }

  override get summary(): string {
    return String(this.imported);
  }

  /** The tree of the first prompt. */
  override picture(): string | undefined {
    const { imported, options } = this;
    if (imported.prompts.length === 0) return undefined;
    return treePicture(payloadOf(imported, 0, options.scores?.get(0)));
  }

  /** One piece of HTML that needs nothing else. */
  override html(): string {
    const { imported } = this;
    const { board: isBoard = true } = this.options;
    const board =
      isBoard && imported.steps.length > 1
        ? new Board(imported, { title: imported.format }).now()
        : {};
    return super.html() + (board["text/html"] ?? "");
  }

  protected override data() {
    return {};
  }

  protected override still(): string {
    const { imported } = this;
    const { prompts } = imported;
    const listed = prompts.slice(0, mostListed);
    const bodies = this.#bodies(listed);
    const steps = [...new Set(listed.map(({ step }) => step))];
    const facts = new Map(
      listed.map((one) => [one.index, factsOf(imported, one, this.options.scores?.get(one.index))]),
    );
    const boxes = listed.map((prompt) => {
      const { index, step, scores } = prompt;
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      const spread = scores.length === 0 ? "" : Math.max(...scores) - Math.min(...scores);
      const told = escape(JSON.stringify(facts.get(index)));
      const attributes = `data-step="${step ?? ""}" data-mean="${scores.length === 0 ? "" : mean}" data-spread="${spread}" data-rows="${told}"`;
      const own = imported.parts.prompts[index]!.tree ? " data-own" : "";
      const rows = prompt.rows.length === 0 ? imported.tree(index).trajectories.length : 0;
      return `<details data-prompt="${index}"${own} ${attributes}><summary>${headOf(prompt, rows)}</summary>${bodies.get(index)}</details>`;
    });
    const beyond = prompts.length - listed.length;
    return (
      header(this.summary.split("\n")[0]!) +
      tableOfCarried(imported) +
      notices(imported) +
      (prompts.length === 0
        ? ""
        : findingsList(
            imported,
            this.options.address,
            (index) => bodies.get(index)?.includes("data-explorer") === true,
          )) +
      (prompts.length === 0
        ? ""
        : `<h3>Prompts</h3>${choices(steps, [...facts.values()].flat())}<div data-prompts>`) +
      boxes.join("") +
      (prompts.length === 0 ? "" : "</div>") +
      (beyond > 0 ? `<p class="arpo-muted">${beyond} more prompts are not listed.</p>` : "")
    );
  }

  /** The inside of every prompt's box, with the trees of as many as there is room for, evenly chosen. */
  #bodies(prompts: readonly ImportedPrompt[]): Map<number, string> {
    const { treeBytes = 8_000_000, address } = this.options;
    let capacity = treeBytes;
    let misses = 0;
    const bodies = new Map<number, string>();
    for (const prompt of spreadOut(prompts)) {
      const { index } = prompt;
      // When several in a row did not fit, the page is full: no tree is made any more.
      const body = misses < 3 ? this.#body(prompt) : undefined;
      const fits = body !== undefined && (body.length <= capacity || capacity === treeBytes);
      if (fits) [capacity, misses] = [capacity - body.length, 0];
      else misses++;
      const instead = address
        ? `<p><a href="${escape(address(index))}">Open its tree</a></p>`
        : `<p class="arpo-muted">Its tree is left out to keep this page small.</p>`;
      bodies.set(index, fits ? body : instead);
    }
    return bodies;
  }

  #body(prompt: ImportedPrompt): string {
    const { imported } = this;
    const view = `imported-${this.key}-${prompt.index}`;
    const scores = this.options.scores?.get(prompt.index);
    const payload = carrierHtml("tree", payloadOf(imported, prompt.index, scores));
    const notes = imported
      .notesOf(prompt.index)
      .map((note) => `<p class="arpo-notice">${escape(note)}</p>`);
    return (
      `<p class="arpo-bar"><button data-pin aria-pressed="false">Pin to the top</button></p>` +
      notes.join("") +
      rowTable(prompt, imported.tree(prompt.index) as unknown as RolloutTree) +
      `<div id="${view}" class="arpo-view arpo-explorer" data-explorer><div data-picture></div>${payload}</div>`
    );
  }
}

function payloadOf(imported: ImportedRollouts, index: number, given: Scored | undefined) {
  const tree = imported.tree(index) as unknown as RolloutTree;
  const [scored, batch] = [imported.scoredOf(index) ?? given, imported.batchOf(index)];
  const payload = makePayload(tree, {
    title: titleOfImported(tree),
    scored,
    batch,
    rightRule: imported.rightRule,
  });
  const marks = marksOf(imported, index);
  return marks.length > 0 ? { ...payload, marks } : payload;
}

function toolsOf({ parts, messages = [] }: ImportedPrompt["rows"][number]): string[] {
  const asked = messages.flatMap(({ tool_calls: calls = [] }) =>
    (calls as { function?: { name?: unknown }; name?: unknown }[]).map(
      (call) => call.function?.name ?? call.name,
    ),
  );
  const names = [...parts.map(({ call }) => call?.tag), ...asked];
  return [
    ...new Set(names.filter((name) => typeof name === "string" && name !== "") as string[]),
  ].map((name) => name.slice(0, 80));
}

/** What a search knows of a prompt's trajectories: what the file's lines say, or a whole tree. */
function factsOf(
  imported: ImportedRollouts,
  { index, rows }: ImportedPrompt,
  given: Scored | undefined,
): RowFacts[] {
  if (rows.length > 0) return rows.map((row) => [row.score ?? null, row.end ?? null, toolsOf(row)]);
  const tree = imported.tree(index);
  const scores = new Map(
    (imported.scoredOf(index) ?? given)?.trajectories.map(
      ({ trajectory, score }) => [trajectory.id, score.score] as const,
    ),
  );
  return tree.trajectories.map(({ id, end, leaf }) => {
    const tools = tree.path(leaf).flatMap(({ tool }) => tool?.tag.slice(0, 80) ?? []);
    return [scores.get(id) ?? null, end, [...new Set(tools)]];
  });
}

/** What prompts can be chosen and ordered by. */
function choices(steps: readonly (number | undefined)[], facts: readonly RowFacts[]): string {
  const known = steps.filter((step) => step !== undefined);
  const options = known.map((step) => `<option value="${step}">${step}</option>`).join("");
  const step =
    known.length < 2
      ? ""
      : `<label>step <select data-choose="step" disabled><option value="">all</option>${options}</select></label> `;
  return (
    `<p class="arpo-bar">${step}<label>order <select data-choose="order" disabled>` +
    `<option value="file">as in the files</option><option value="spread">scores differ most</option>` +
    `<option value="low">lowest score</option><option value="high">highest score</option></select></label> ` +
    searchBar({
      tools: facts.flatMap(([, , tools]) => tools),
      ends: facts.flatMap(([, end]) => end ?? []),
      hasScores: facts.some(([score]) => score !== null),
    }) +
    "</p>"
  );
}

/**
 * Other people's rollouts to look around in; `toHtml` makes a page of it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readRollouts } from "arpo-lab/experimental/import";
 * import { toHtml } from "arpo-lab/view";
 * import { showImported } from "arpo-lab/experimental/import";
 *
 * const rows = ["42", "54"].map((output) => ({ input: "6*7?", output, score: Number(output === "42"), step: 1 }));
 * const page = toHtml(showImported(readRollouts(rows)));
 * assert.match(page, /entropies<\/th><td>not in the file/);
 * ```
 */
export function showImported(
  imported: ImportedRollouts,
  options: ImportedViewOptions = {},
): ImportedView {
  return new ImportedView(imported, options);
}
