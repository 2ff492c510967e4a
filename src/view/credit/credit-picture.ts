import { escapeHtml } from "../../../picture/escape.js";
import { integersOf } from "../page/unpack.js";
import { colourRamp } from "../page/colour-ramp.js";
import { palettes } from "../palette.js";
import type { CreditPayload, ShownRule } from "./payload.js";

const columns = 3;
const width = 300;
const gap = 16;
const head = 34;

/** What one rectangle stands for: neighbours of one row that got the same. */
interface Stretch {
  start: number;
  end: number;
  value: number;
}

/** A row's trained tokens under a rule, in stretches. */
function stretches(
  spans: ShownRule["spans"][number],
  { sums }: CreditPayload,
  isTrained: (token: number) => boolean,
): Stretch[] {
  const found: Stretch[] = [];
  for (const [from, to, sum] of spans) {
    const { value } = sums[sum]!;
    for (let t = from; t < to; t++) {
      if (!isTrained(t)) continue;
      const last = found.at(-1);
      if (last && last.end === t && last.value === value) last.end = t + 1;
      else found.push({ start: t, end: t + 1, value });
    }
  }
  return found;
}

/**
 * One small map per rule, all on one scale: a line per row, tokens from left to right, what a row has in
 * common with the one it left as a thin line.
 */
export function creditPicture(payload: CreditPayload): string {
  const { rows, rules, reach } = payload;
  const trained = integersOf(payload.trained, false);
  const line = Math.max(3, Math.min(10, Math.floor(140 / rows.length)));
  const longest = Math.max(1, ...rows.map(({ length }) => length));
  const x = (token: number) => Math.round((token / longest) * width * 10) / 10;
  const tall = head + rows.length * line;
  const colour = colourRamp(palettes.auto.diverging, -reach, reach);
  const marks = rules.map((rule, r) => {
    const left = (r % columns) * (width + gap);
    const top = Math.floor(r / columns) * (tall + gap);
    const title = `<text x="0" y="12" font-weight="600">${escapeHtml(rule.name)}</text>`;
    const words = rule.missing === undefined ? rule.meaning : rule.missing;
    const why = `<text x="0" y="26" font-size="10" opacity=".75">${escapeHtml(cut(words))}<title>${escapeHtml(words)}</title></text>`;
    const heat = rule.spans.flatMap((spans, row) => {
      const { start, shared } = rows[row]!;
      return stretches(spans, payload, (t) => trained[start + t] === 1).map((one) => {
        // What was written once stands thick once.
        const thin = one.start < shared;
        const high = thin ? Math.max(1, Math.floor(line / 3)) : line - 1;
        const y = head + row * line + (thin ? Math.floor((line - high) / 2) : 0);
        return `<rect x="${x(one.start)}" y="${y}" width="${Math.max(0.6, x(one.end) - x(one.start))}" height="${high}" fill="${colour(one.value)}" data-value="${one.value}"/>`;
      });
    });
    // Every row's whole length, its results and what gets no credit included.
    const length = rows.map((row, i) => {
      const y = head + i * line + Math.floor(line / 2);
      return `M0 ${y}H${x(row.length)}`;
    });
    const faint = `<path d="${length.join("")}" stroke="rgba(128,128,128,.35)" stroke-width=".6"/>`;
    const ground = `<rect class="arpo-map" data-rule="${r}" x="0" y="${head}" width="${width}" height="${rows.length * line}" fill="${rule.missing === undefined ? "transparent" : "rgba(128,128,128,.12)"}" stroke="rgba(128,128,128,.4)"/>`;
    return `<g transform="translate(${left} ${top})">${title}${why}${rule.missing === undefined ? faint : ""}${heat.join("")}${ground}</g>`;
  });
  const lines = Math.ceil(rules.length / columns);
  const [wide, high] = [columns * (width + gap) - gap + 2, lines * (tall + gap)];
  const label = escapeHtml(payload.summary[0]!);
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${label}" viewBox="-1 0 ${wide} ${high}" width="${wide}" style="max-width:100%;height:auto;font:12px system-ui,sans-serif" fill="currentColor" data-longest="${longest}" data-line="${line}" data-head="${head}">${marks.join("")}</svg>`;
}

/** As much as fits above a map. */
const cut = (text: string) => (text.length > 54 ? `${text.slice(0, 53)}…` : text);
