import { program } from "#pages/branching";
import { axis } from "../../../common/picture/axis.js";
import { roundPlaces } from "../../../common/picture/scale.js";
import { escapeHtml } from "../../../common/picture/escape.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { colourRamp } from "../page/colour-ramp.js";
import { grey } from "../../../common/picture/grey.js";
import { designTokens, entropyRamps, palettes } from "../../../common/picture/palette.js";
import { View } from "../page/view.js";
import { cut } from "../page/words.js";
import {
  type BranchingOptions,
  type BranchingPayload,
  branchingPayload,
  branchingRules,
  type ShownPoint,
  type ShownRule,
} from "./payload.js";

const label = 190;
const width = 640;
const gap = 12;
const top = 54;
/** Beyond so many marks in a line their order is not written beside them. */
const numbered = 16;

/** How much height a rule's line has: trajectories lie one below the other in it. */
const lineHeight = (rows: number): number => Math.max(30, Math.min(84, rows * 6));

/** A line per rule over one axis of tokens; each mark is a place where the rule would branch. */
function branchingPicture(payload: BranchingPayload): string {
  const { trajectories, rules, longest, summary } = payload;
  const height = lineHeight(trajectories.length);
  const x = (token: number) => label + Math.round((token / longest) * width * 10) / 10;
  const places = new Map(
    trajectories.map(({ id }, i) => [id, ((i + 0.5) / trajectories.length) * height]),
  );
  // What does not apply is named in words, not drawn.
  const shown = rules.flatMap((rule, r) => (rule.missing === undefined ? [{ rule, r }] : []));
  const lines = shown.map(({ rule, r }, place) => {
    const y = top + place * (height + gap);
    return `<g class="arpo-line" data-rule="${r}" transform="translate(0 ${y})">${ruleLine(payload, rule, r, { x, height, places })}</g>`;
  });
  const left = rules.flatMap(({ name, missing }) =>
    missing === undefined ? [] : [`not here: ${name}, ${missing}`],
  );
  const below = 15 * left.length;
  const axisAt = top + shown.length * (height + gap) + 18;
  const high = axisAt + below;
  const wide = label + width + 24;
  const title = escapeHtml(summary[0]!);
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${title}" viewBox="0 0 ${wide} ${high}" width="${wide}" style="max-width:100%;height:auto;font:12px system-ui,sans-serif" fill="currentColor">${ground(payload, x)}${lines.join("")}${tokenAxis(longest, x, axisAt)}${left.map((words, i) => `<text x="0" y="${axisAt + 15 * (i + 1) - 2}" font-size="10" opacity=".75">${escapeHtml(words)}</text>`).join("")}<g class="arpo-cursor"></g></svg>`;
}

/** What is common to all lines: how uncertain the policy was along the axis. */
function ground({ profile, longest }: BranchingPayload, x: (token: number) => number): string {
  const most = Math.max(1e-9, ...profile.map((value) => value ?? 0));
  const bars = profile.map((value, part) => {
    if (value === null) return "";
    const [from, to] = [part, part + 1].map((p) => x((p / profile.length) * longest));
    const tall = Math.round((value / most) * 320) / 10;
    return `<rect x="${from}" y="${44 - tall}" width="${Math.max(0.5, to! - from! - 0.5)}" height="${tall}"/>`;
  });
  return `<text x="0" y="26" font-weight="600">entropy</text><text x="0" y="40" font-size="10" opacity=".75">mean of all trajectories, up to ${Number(most.toPrecision(3))} nats</text><g class="arpo-entropy-fill" fill="${entropyRamps.light[5]}" opacity=".8">${bars.join("")}</g>`;
}

function tokenAxis(longest: number, x: (token: number) => number, y: number): string {
  const ticks = roundPlaces(0, longest, 10, 1).map((t) => ({ at: x(t), label: String(t) }));
  return `<g opacity=".8">${axis("below", y - 4, ticks, { size: 10 })}<text x="0" y="${y - 4}" font-size="10">tokens of the response</text></g>`;
}

interface Scale {
  x: (token: number) => number;
  height: number;
  places: ReadonlyMap<number, number>;
}

function ruleLine(
  { trajectories, longest }: BranchingPayload,
  rule: ShownRule,
  number: number,
  { x, height, places }: Scale,
): string {
  const { name, points, branches, meaning } = rule;
  const said = `${branches} ${branches === 1 ? "branch" : "branches"}`;
  const told = rule.note ? `${said}, ${rule.note}` : said;
  const words = `<text x="0" y="14" font-weight="600">${escapeHtml(name)}</text><text x="0" y="28" font-size="10" opacity=".75">${escapeHtml(cut(told, 34))}<title>${escapeHtml(`${meaning}. ${told}`)}</title></text>`;
  const box = `<rect x="${label}" y="0" width="${x(longest) - label}" height="${height}" fill="transparent" stroke="${grey(0.4)}"/>`;
  const own = trajectories.map(({ id, shared, length }) => {
    const y = places.get(id)!;
    return `M${x(shared)} ${y}H${x(length)}`;
  });
  const results = trajectories.flatMap(({ id, results: all, shared }) =>
    all.flatMap(([from, to]) =>
      to > shared ? [`M${x(Math.max(from, shared))} ${places.get(id)}H${x(to)}`] : [],
    ),
  );
  const faint =
    `<path d="${own.join("")}" stroke="${grey(0.45)}" stroke-width="1" fill="none"/>` +
    `<path d="${results.join("")}" class="arpo-tool-line" stroke="${designTokens.light.tool}" stroke-width="3" opacity=".55" fill="none"/>`;
  const colour = colourRamp(palettes.auto.sequential, ...rule.range);
  const marks = points.map((point, i) => {
    const [cx, cy] = [x(point.place), places.get(point.trajectory)!];
    const size = Math.round((2.6 + Math.min(3.4, Math.sqrt(point.orders.length))) * 10) / 10;
    const made = point.children.length > 0 ? 2 : 0.8;
    const isCrowded = points.some((other) => {
      const [dx, dy] = [x(other.place) - cx, Math.abs(places.get(other.trajectory)! - cy)];
      return other !== point && dx > -2 && dx < 16 && dy < 7;
    });
    const order =
      points.length <= numbered && !isCrowded
        ? `<text x="${cx + size + 1}" y="${cy + 3}" font-size="8" opacity=".85">${point.orders[0]! + 1}</text>`
        : "";
    return `<circle class="arpo-mark" data-rule="${number}" data-point="${i}" data-row="${point.trajectory}" cx="${cx}" cy="${cy}" r="${size}" fill="${colour(point.scores[0]!)}" stroke="currentColor" stroke-width="${made}"><title>${escapeHtml(markWords(rule, point))}</title></circle>${order}`;
  });
  return words + box + faint + marks.join("");
}

/** A mark in one line. */
function markWords({ name }: ShownRule, point: ShownPoint): string {
  const { trajectory, at, orders, scores, token } = point;
  const times = orders.length === 1 ? "" : `, ${orders.length} trajectories`;
  return `${name}: trajectory ${trajectory} after ${at} tokens${times}, ${JSON.stringify(token)}, score ${Number(scores[0]!.toPrecision(4))}`;
}

const style = `
.arpo-branching svg .arpo-mark{cursor:pointer}
.arpo-branching svg .arpo-faded{opacity:.12}
.arpo-branching svg .arpo-cursor circle{fill:none;stroke:var(--accent);stroke-width:2}
.arpo-branching svg .arpo-tool-line{stroke:var(--tool)}
.arpo-branching svg .arpo-entropy-fill{fill:var(--entropy)}
.arpo-branching svg .arpo-cursor line{stroke:var(--accent);stroke-width:.8;stroke-dasharray:3 3}
.arpo-branching .arpo-around{font:12px/1.6 ui-monospace,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);border-radius:8px;padding:6px 8px;margin:4px 0}
.arpo-branching .arpo-around b{outline:2px solid var(--accent);outline-offset:1px;border-radius:2px;padding:0 1px}
.arpo-branching .arpo-point{min-height:9em}
`;

/**
 * One tree and where every rule would branch in it; shows itself.
 */
class BranchingView extends View<BranchingPayload> {
  protected override readonly page = { name: "branching", style, program };

  override get summary(): string {
    return this.payload.summary.join("\n");
  }

  /** All rules' lines as one picture. */
  override picture(): string {
    return branchingPicture(this.payload);
  }
}

/**
 * Where every branching rule would have branched in one tree, on one axis: a line per rule, a mark at each
 * place with its score and order. Rules that need what the tree does not carry say what that is. Nothing
 * is generated: it is what `tree.replay({ rule })` says.
 *
 * @param tree the tree to show
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { branchingView } from "arpo-lab/view";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 8, seed: 1 });
 * const view = branchingView(tree, { rules: ["arpo-code", "redraw"] });
 * assert.match(view.summary, /\narpo-code: 0 branches at 0 places.*\nredraw: 8 branches at 8 places/);
 * ```
 */
export function branchingView(tree: RolloutTree, options: BranchingOptions = {}): BranchingView {
  checkArguments("show branching", { tree }, { tree: "tree" });
  checkOptions("show branching", options, branchingRules);
  return new BranchingView(branchingPayload(tree, options));
}
