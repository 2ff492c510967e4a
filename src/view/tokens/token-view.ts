import { program } from "#pages/tokens";
import { escapeHtml } from "../../../common/picture/escape.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, type OptionRules } from "../../../common/options/check-options.js";
import type { TokenUpdate } from "../../learn/losses/token-update.js";
import type { UpdateReport } from "../../learn/update/update-report.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { figureTheme } from "../draw/figure-theme.js";
import { stillSvg, svgPainter } from "../draw/svg-painter.js";
import { cut, visible } from "../page/words.js";
import { palettes } from "../../../common/picture/palette.js";
import { View } from "../page/view.js";
import { colouringOf } from "./page/colouring.js";
import { factsOf } from "./quantities.js";
import { readTokens } from "./page/read-tokens.js";
import { type TokenPayload, tokenPayload } from "./payload.js";

const [width, line, letter, gap] = [900, 20, 6.7, 16];
const tenth = (x: number) => Math.round(x * 10) / 10;
/** Trajectories, and tokens of each, that a picture holds. */
const [mostRows, mostTokens] = [8, 300];

/** The first trajectories' tokens on the colours of what is shown first, as one picture. */
function tokenPicture(payload: TokenPayload): string {
  const { panels, text } = readTokens(payload);
  const theme = figureTheme();
  const painter = svgPainter();
  const grounds = new Map<string, string>();
  let [lines, dots] = ["", ""];
  let frames = "";
  const differs = new Set(payload.differs);
  const quantity = [...panels[0]!.values.keys()][0]!;
  const colouring = colouringOf(panels, quantity, palettes.light);
  const untrained = payload.regions.length - 1;
  const isClipped = panels[0]!.values.has("weight");
  const column = (width - 24 - gap * (panels.length - 1)) / panels.length;
  let y = 18;
  for (const words of payload.summary) {
    painter.text(12, y, cut(words, 130), { size: 12.5, weight: 600, fill: theme.ink });
    y += line;
  }
  painter.text(
    12,
    y,
    [
      `colour: ${quantity}`,
      ...(colouring.isLess(colouring.low) ? [`dotted above: ${factsOf(quantity).less}`] : []),
      ...(isClipped
        ? ["struck out: no gradient; underlined: outside the bounds, gradient kept"]
        : []),
      ...(differs.size > 0 ? ["framed: differs"] : []),
    ].join("; "),
    {
      ...{ size: 11, fill: theme.ink2 },
    },
  );
  y += line + 4;
  for (const row of payload.rows.slice(0, mostRows)) {
    painter.text(12, y, row.label, { size: 11.5, weight: 600, fill: theme.ink });
    let lowest = y;
    panels.forEach((panel, p) => {
      const left = 12 + p * (column + gap);
      let [x, at] = [left, y + line];
      if (panels.length > 1) {
        painter.text(left, at, panel.name, { size: 11, fill: theme.ink2 });
        at += line;
      }
      const end = row.start + Math.min(row.length, mostTokens);
      // Tokens of a line that look alike are one text.
      let run = { x, text: "", isTrained: true };
      const write = () => {
        if (run.text !== "") {
          painter.text(run.x, at, run.text, {
            ...{ size: 11, mono: true, wide: run.text.length * letter },
            fill: run.isTrained ? theme.ink : theme.ink3,
          });
        }
      };
      for (let token = row.start; token < end; token++) {
        const told = visible((panel.text ?? text)(token));
        const wide = told.length * letter;
        const value = panel.values.get(quantity)![token]!;
        const region = panel.region[token]!;
        const isTrained = region !== untrained;
        const isNewLine = x + wide > left + column;
        if (isNewLine || isTrained !== run.isTrained) {
          write();
          if (isNewLine) [x, at] = [left, at + line];
          run = { x, text: "", isTrained };
        }
        run.text += told;
        if (isTrained && !Number.isNaN(value)) {
          const colour = colouring.colour(value);
          const known = grounds.get(colour);
          const box = `M${tenth(x)} ${at - 8}h${tenth(wide - 1)}v16h${tenth(1 - wide)}`;
          grounds.set(colour, (known ?? "") + box);
          if (colouring.isLess(value)) dots += `M${tenth(x)} ${at - 8}h${tenth(wide - 1)}`;
        }
        if (isTrained && region > 0) {
          const isLost = panel.values.get("weight")?.[token] === 0;
          lines += `M${tenth(x)} ${isLost ? at : at + 8}h${tenth(wide - 1)}`;
        }
        if (differs.has(token))
          frames += `M${tenth(x)} ${at - 9}h${tenth(wide - 1)}v18h${tenth(1 - wide)}z`;
        x += wide;
      }
      write();
      if (row.length > mostTokens) {
        at += line;
        painter.text(left, at, `${row.length - mostTokens} more tokens`, {
          ...{ size: 11, fill: theme.ink2 },
        });
      }
      lowest = Math.max(lowest, at);
    });
    y = lowest + line + 8;
  }
  const left = payload.rows.length - mostRows;
  if (left > 0) {
    painter.text(12, y, `${left} more trajectories`, { size: 11, fill: theme.ink2 });
    y += line;
  }
  const ground = svgPainter();
  ground.rect(0, 0, width, y, { fill: theme.paper });
  for (const [fill, path] of grounds) ground.path(path, { fill });
  painter.path(lines, { stroke: theme.ink, width: 1.4, butt: true });
  painter.path(dots, { stroke: theme.ink, width: 1.6, dash: [1.6, 1.8], butt: true });
  painter.path(frames, { stroke: theme.accent, width: 2 });
  return stillSvg({
    ...{ width, height: y, title: payload.summary[0] ?? "Tokens" },
    words: payload.summary.join("\n"),
    parts: [...ground.parts, ...painter.parts],
  });
}

export interface TokenViewOptions {
  /** Without one, tokens are shown as their numbers. Default: the tree's own. */
  tokenizer?: Tokenizer;
}

export const tokenViewRules: OptionRules<TokenViewOptions> = { tokenizer: "tokenizer?" };

const style = `
.arpo-view .arpo-lost{text-decoration:line-through;text-decoration-thickness:2px}
.arpo-view .arpo-kept{text-decoration:underline;text-decoration-thickness:2px}
.arpo-view .arpo-untrained{opacity:.75}
.arpo-view .arpo-differs{box-shadow:inset 0 0 0 2px var(--accent)}
`;

/**
 * Tokens on colours, to be looked at one by one; shows itself.
 */
export class TokenView extends View<TokenPayload> {
  protected override readonly page = { name: "tokens", style, program };

  constructor(
    payload: TokenPayload,
    /** HTML that stands before it. */
    readonly before = "",
  ) {
    super(payload);
  }

  override get summary(): string {
    return this.payload.summary.join("\n");
  }

  override picture(): string {
    return tokenPicture(this.payload);
  }

  protected override still(): string {
    return this.before + this.payload.summary.map((line) => `<p>${escapeHtml(line)}</p>`).join("");
  }
}

/**
 * Each token that an update trained on, as text on the colour of its gradient weight, ratio, advantage
 * or entropy; what clipping dropped is struck out.
 *
 * @param report the report, from `update`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TrainingBatch, UpdateReport } from "arpo-lab/learn";
 * import { tokenView } from "arpo-lab/view";
 *
 * const report = new UpdateReport({}, new TrainingBatch([], "grpo"), {}, 0);
 * assert.match(tokenView(report).summary, /^update: 0 trained tokens/);
 * ```
 */
export function tokenView(report: UpdateReport, options: TokenViewOptions = {}): TokenView {
  checkArguments("show tokens", { report }, { report: { batch: "object" } });
  checkOptions("show tokens", options, tokenViewRules);
  const name = "update";
  const summary = [clipWords(name, updatesOf(report))];
  return new TokenView(tokenPayload(report.batch, [{ name, report }], summary, options.tokenizer));
}

/** What happened to every trained token of a report's batch. */
export function updatesOf(report: UpdateReport): TokenUpdate[] {
  return report.batch.trajectories
    .flatMap((row) => report.tokens(row))
    .filter((u) => u !== undefined);
}

/** What clipping did to some tokens, in words. */
export function clipWords(name: string, updates: readonly TokenUpdate[]): string {
  const count = (region: string) => updates.filter((update) => update.region === region).length;
  const lost = updates.filter((update) => update.weight === 0).length;
  // Only some losses pick tokens of their own, or leave a trajectory or a turn out.
  const own = [
    [count("chosen"), "chosen by the loss"],
    [count("dropped"), "left out"],
  ].flatMap(([n, what]) => (n ? [`, ${n} ${what}`] : []));
  return `${name}: ${updates.length} trained tokens, ${lost} without a gradient; ${count("above")} above the bounds, ${count("below")} below, ${count("dual")} beyond the dual clip${own.join("")}.`;
}
