import { escapeHtml } from "../../../common/picture/escape.js";
import { axis } from "../../../common/picture/axis.js";
import { roundPlaces, scaleOf } from "../../../common/picture/scale.js";
import type { BranchValues, ProfileDistance } from "../../measure/branch-values/branch-values.js";
import { designTokens } from "../../../common/picture/palette.js";

const width = 720;
const left = 70;
const right = 16;
const gap = 26;

/** A line with its band, above an axis of its own. */
interface Panel {
  title: string;
  colour: "tool" | "accent" | "wrong";
  of: (point: ProfileDistance) => ProfileDistance["entropy"];
}

const panels: readonly Panel[] = [
  { title: "entropy (nats)", colour: "tool", of: ({ entropy }) => entropy },
  { title: "variance of forks from here", colour: "accent", of: ({ variance }) => variance },
  { title: "variance decided by the token", colour: "wrong", of: ({ decided }) => decided },
];
const panelHeight = 118;
const countHeight = 44;

/** Colours by name for light pages, and for dark ones where the reader's system is dark. */
function style(): string {
  const rules = (theme: keyof typeof designTokens) => {
    const { ink, "ink-2": soft, line, tool, accent, wrong, surface } = designTokens[theme];
    return (
      `.arpo-values{color:${ink};fill:${ink}}.arpo-values .soft{fill:${soft}}.arpo-values .grid{stroke:${line};fill:none}` +
      `.arpo-values .result{fill:${surface};stroke:${line}}` +
      Object.entries({ tool, accent, wrong })
        .map(
          ([name, colour]) =>
            `.arpo-values .${name}{stroke:${colour};fill:none}.arpo-values .${name}-fill{fill:${colour}}`,
        )
        .join("")
    );
  };
  return `<style>${rules("light")}@media (prefers-color-scheme:dark){${rules("dark")}}</style>`;
}

const fixed = (x: number) => String(Number(x.toFixed(1)));

/**
 * Entropy, variance of forks and decided variance by the distance from a tool result, each with its 95% band, and how
 * many tokens there are: one picture for light and dark pages. Undefined where no tool answered.
 */
export function profilePicture(values: BranchValues): string | undefined {
  const profile = values.profile({ draws: 200 });
  const [first, last] = [profile[0]?.distance, profile.at(-1)?.distance];
  if (first === undefined || last === undefined || last < 0) return undefined;
  const x = (distance: number) =>
    left + ((distance - first + 0.5) / (last - first + 1)) * (width - left - right);
  const parts: string[] = [];
  let top = 68;
  const all = panels.length * (panelHeight + gap) + countHeight;
  if (first < 0) {
    const at = (x(-1) + x(0)) / 2;
    parts.push(
      `<rect class="result" x="${fixed(at - 5)}" y="${top - 6}" width="10" height="${all}" rx="3"/>`,
      `<text x="${fixed(at)}" y="${top - 12}" text-anchor="middle" class="soft">tool result</text>`,
    );
  }
  for (const panel of panels) {
    parts.push(drawn(panel, profile, x, top));
    top += panelHeight + gap;
  }
  const most = Math.max(...profile.map(({ tokens }) => tokens));
  const step = (width - left - right) / (last - first + 1);
  for (const { distance, tokens } of profile) {
    const height = (tokens / most) * (countHeight - 10);
    parts.push(
      `<rect class="tool-fill" opacity=".35" x="${fixed(x(distance) - 0.4 * step)}" y="${fixed(top + countHeight - height)}" width="${fixed(0.8 * step)}" height="${fixed(height)}"/>`,
    );
  }
  parts.push(
    `<text class="soft" x="${left}" y="${top + 2}">tokens there (at most ${most})</text>`,
    `<path class="grid" d="M${left} ${top + countHeight}H${width - right}"/>`,
  );
  const ticks = roundPlaces(first, last, 16, 1).map((distance) => ({
    ...{ at: x(distance), label: String(distance) },
  }));
  parts.push(axis("below", top + countHeight + 16, ticks));
  const height = top + countHeight + 44;
  parts.push(
    `<text x="${(left + width - right) / 2}" y="${height - 8}" text-anchor="middle">drawn tokens from the tool result</text>`,
  );
  const { policy, K } = values.settings;
  const title = "What the tokens around a tool result decide";
  const under = `${policy}, ${values.prompts} prompts, ${K} forks of each state; bands are 95% over prompts`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" class="arpo-values" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `style="max-width:100%;height:auto" font-family="sans-serif" font-size="12" role="img" aria-label="${title}">` +
    `<desc>${escapeHtml(String(values))}</desc>${style()}` +
    `<text x="${left}" y="18" font-size="15" font-weight="600">${title}</text>` +
    `<text class="soft" x="${left}" y="35">${escapeHtml(under)}</text>${parts.join("")}</svg>`
  );
}

function drawn(
  { title, colour, of }: Panel,
  profile: readonly ProfileDistance[],
  x: (distance: number) => number,
  top: number,
): string {
  const points = profile.flatMap((point) => {
    const { value, low = value, high = value } = of(point);
    return value === undefined ? [] : [{ at: x(point.distance), value, low: low!, high: high! }];
  });
  const scale = scaleOf(
    points.flatMap(({ low, high }) => [low, high]),
    {},
    { zero: true },
  );
  const y = (value: number) => top + (1 - scale.at(value)) * panelHeight;
  const line = (ends: readonly (readonly [number, number])[]) =>
    ends.map(([at, value]) => `${fixed(at)} ${fixed(y(value))}`).join("L");
  const band = [
    ...points.map(({ at, high }) => [at, high] as const),
    ...points.toReversed().map(({ at, low }) => [at, low] as const),
  ];
  const ticks = scale.ticks.map(({ at, label }) => ({ at: top + (1 - at) * panelHeight, label }));
  return (
    `${axis("left", left - 6, ticks, { grid: [left, width - right] })}<path class="${colour}-fill" opacity=".22" d="M${line(band)}Z"/>` +
    `<path class="${colour}" stroke-width="2" d="M${line(points.map(({ at, value }) => [at, value] as const))}"/>` +
    `<text x="${left}" y="${top - 6}" font-weight="600">${title}</text>`
  );
}

/** Values as their picture and their words. */
export function showBranchValues(values: BranchValues): Record<string, string> {
  const text = String(values);
  const picture = profilePicture(values);
  if (picture === undefined) return { "text/plain": text };
  return {
    "text/html": `${picture}<pre>${escapeHtml(text)}</pre>`,
    "image/svg+xml": picture,
    "text/plain": text,
  };
}
