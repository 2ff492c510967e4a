import { program } from "#pages/board";
import { randomUUID } from "#platform/uuid";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { plusMinus } from "../../base/text/interval-text.js";
import { explorerStyle } from "../explorer/style.js";
import type { Theme } from "../../../common/picture/palette.js";
import { View } from "../page/view.js";
import {
  type BoardOptions,
  type BoardPayload,
  boardPayload,
  boardRules,
  type BoardTrees,
  keptTrees,
  pickTree,
  readTrees,
} from "./payload.js";
import { comeWords } from "./page/come-words.js";
import { panelsPicture } from "../draw/panels-picture.js";
import type { WorkStatus } from "../status/payload.js";
import { readRunFolder, withArms } from "./read-folder.js";
import { type BoardRun, type BoardRuns, namedRuns, recordOf, type RunRecord } from "./read-runs.js";

/** A board without its trees as one picture. */
const boardPicture = (payload: BoardPayload, theme: Theme | undefined): string =>
  panelsPicture(
    { ...payload, state: comeWords(payload) },
    { theme, columns: 3, width: 330, height: 150 },
  );

const style = `
.arpo-board .arpo-finding{border:1px solid var(--line);border-left:3px solid var(--accent);border-radius:8px;margin:6px 0;padding:2px 10px}
.arpo-board{container:board/inline-size}
.arpo-board .arpo-first{display:grid;grid-template-columns:minmax(0,1fr);gap:6px 14px;align-items:start}
@container board (min-width:1180px){.arpo-board .arpo-first:has(>:nth-child(2)){grid-template-columns:minmax(0,2fr) minmax(0,5fr)}}
.arpo-board .arpo-first>div{display:grid;gap:10px;grid-template-columns:minmax(0,1fr)}
.arpo-board .arpo-more{margin:8px 0}
.arpo-board .arpo-more .arpo-panels{margin-top:6px}
.arpo-board .arpo-panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(270px,1fr));gap:10px}
.arpo-board .arpo-panel{display:flex;flex-direction:column;justify-content:space-between;border:1px solid var(--line);border-radius:8px;padding:6px 0 2px;min-width:0;overflow:hidden}
.arpo-board .arpo-curve svg{display:block;cursor:crosshair}
.arpo-board .arpo-head{display:flex;flex-wrap:wrap;gap:0 10px;padding:0 10px;align-items:baseline}
.arpo-board .arpo-keys{display:flex;flex-wrap:wrap;gap:0 10px;font-size:11px}
.arpo-board .arpo-keys i{display:inline-block;width:16px;margin-right:4px;vertical-align:middle}
.arpo-board .arpo-facts{margin:8px 0}
.arpo-board .arpo-facts td,.arpo-board .arpo-facts th{white-space:nowrap}
.arpo-board .arpo-progress{height:5px;background:var(--soft);border-radius:3px;overflow:hidden;margin:2px 0 6px}
.arpo-board .arpo-progress i{display:block;height:100%;background:var(--accent)}
.arpo-board .arpo-now{margin-left:auto;font-variant-numeric:tabular-nums}
.arpo-board input[data-scrub]{width:min(340px,40vw)}
`;

/** A board as its runs are now. */
class BoardView extends View<BoardPayload> {
  protected override readonly page = { name: "board", style: style + explorerStyle, program };

  constructor(
    payload: BoardPayload,
    readonly trees: BoardTrees,
    protected override readonly key: string,
    protected override readonly theme: Theme | undefined,
  ) {
    super(payload);
  }

  override get summary(): string {
    return boardText(this.payload);
  }

  override picture(): string {
    return boardPicture(this.payload, this.theme);
  }

  protected override still(): string {
    return this.drawn;
  }

  protected override data() {
    return { board: this.payload, ...this.trees };
  }
}

/**
 * Training runs to look at: curves, and the rollouts of each step; shows itself.
 */
export class Board {
  /** Boards of one id keep what the reader chose when one replaces the other. */
  readonly id = randomUUID();
  readonly #runs: [string, readonly BoardRun[]][];

  constructor(
    runs: BoardRuns,
    readonly options: BoardOptions = {},
  ) {
    checkOptions("show a board", options, boardRules);
    if (typeof runs !== "string" && !Array.isArray(runs)) {
      checkArguments("show a board", { runs }, { runs: "object" });
    }
    this.#runs = namedRuns(runs);
    if (this.#runs.length === 0)
      throw new RangeError("Cannot show a board: it must have a run, got none");
  }

  /** The runs, read anew: a run may have continued. */
  async #records(): Promise<RunRecord[][]> {
    const runs = await withArms(this.#runs);
    return Promise.all(
      runs.map(([name, seeds]) =>
        Promise.all(
          seeds.map(async (run) => recordOf(name, run) ?? readRunFolder(name, run as string)),
        ),
      ),
    );
  }

  /** The curves as plain data. */
  async payload(): Promise<BoardPayload> {
    return boardPayload(await this.#records(), this.options);
  }

  /** Every form it can be shown in. */
  async bundle(): Promise<Record<string, string>> {
    const records = await this.#records();
    const { rollouts, trees } = await readTrees(records, this.options);
    return this.#bundle({ ...boardPayload(records, this.options), rollouts }, trees);
  }

  /** As one piece of HTML. */
  async html(): Promise<string> {
    return (await this.bundle())["text/html"]!;
  }

  /** The same as `bundle` without waiting, for runs in memory; folders are left out. */
  now(): Record<string, string> {
    const records = this.#known();
    const { rollouts, trees } = keptTrees(records, this.options);
    return this.#bundle({ ...boardPayload(records, this.options), rollouts }, trees);
  }

  #known(): RunRecord[][] {
    return this.#runs
      .map(([name, seeds]) => seeds.flatMap((run) => recordOf(name, run) ?? []))
      .filter((seeds) => seeds.length > 0);
  }

  /**
   * What is known of runs in memory, quickly: the last step's tree alone. For showing a run while it
   * continues.
   */
  glance(status?: WorkStatus): Record<string, string> {
    const records = this.#known();
    const payload = { ...boardPayload(records, this.options), ...defined({ status }) };
    const trees: BoardTrees = {};
    const last = records[0]?.[0]?.trees.at(-1);
    const picked =
      last && pickTree(records, { run: 0, seed: 0, trees: last }, last.trees ?? [], this.options);
    if (picked) {
      payload.rollouts.push(picked.rollout);
      trees[picked.rollout.data] = picked.payload;
    }
    return this.#bundle(payload, trees);
  }

  #bundle(payload: BoardPayload, trees: BoardTrees): Record<string, string> {
    return new BoardView(payload, trees, this.id, this.options.theme).bundle();
  }

  [Symbol.for("Jupyter.display")](): Promise<Record<string, string>> {
    return this.bundle();
  }
}

/** The last value of every curve, in words. */
function boardText(payload: BoardPayload): string {
  const show = (x: number | undefined) =>
    x === undefined ? "–" : String(Number(x.toPrecision(4)));
  const lines = payload.runs.map(({ name, seeds, steps }, run) => {
    const values = payload.panels.flatMap((panel) =>
      panel.curves
        .filter((curve) => curve.run === run && !panel.stacked)
        .map((curve) => {
          const label = panel.labels.length > 1 ? `${panel.title}, ${curve.label}` : panel.title;
          const last = curve.y.at(-1);
          const high = curve.high?.at(-1) ?? null;
          const value = high === null ? show(last) : plusMinus(last!, high - last!);
          return `    ${label}: ${show(curve.y[0])} → ${value}`;
        }),
    );
    const many = seeds > 1 ? `, ${seeds} seeds` : "";
    return [`  ${name}: ${steps} steps${many}`, ...values].join("\n");
  });
  const come = comeWords(payload);
  return [`${payload.title}${come === "" ? "" : `, ${come}`}`, ...lines].join("\n");
}

/**
 * Compares training runs: rewards and their parts, entropy, KL, clipping, tool calls, lengths and time over
 * the steps. A run with several seeds gets 95% confidence bands. The rollouts of any step can be opened.
 * Takes runs made in cells, the folders (by path) of runs, of fine-tuning and of sweeps, or lines of metrics.
 *
 * @param runs a run's folder, runs in memory, or several by name
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { board } from "arpo-lab/view";
 *
 * const seed = (rise: number) =>
 *   [0, 1, 2].map((step) => ({ step, "critic/score/mean": rise * step }));
 * const { panels } = await board({ arpo: [seed(0.3), seed(0.2)], grpo: seed(0.1) }).payload();
 * assert.equal(panels[0].title, "Score");
 * assert.equal(panels[0].curves[0].y[2], 0.5);
 * ```
 */
export function board(runs: BoardRuns, options: BoardOptions = {}): Board {
  return new Board(runs, options);
}
