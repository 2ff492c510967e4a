/** The colours of the drawing, as the style sheet gives them. */
export interface Theme {
  paper: string;
  surface: string;
  ink: string;
  ink2: string;
  ink3: string;
  line: string;
  lineStrong: string;
  accent: string;
  accentSoft: string;
  right: string;
  wrong: string;
  wrongSoft: string;
  tool: string;
  toolSoft: string;
  toolLine: string;
  track: string;
  /** Little to much entropy, in `heatSteps` steps. */
  heat: string[];
}

export const heatSteps = 32;
const stops = 11;

export const sans =
  'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif';
export const mono =
  'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** The step of the ramp for a level from 0 to 1. */
export const heatStep = (level: number): number =>
  Math.max(0, Math.min(heatSteps - 1, Math.floor(level * heatSteps)));

/** Reads the theme off an element that the style sheet reaches. */
export function themeOf(root: Element): Theme {
  const style = getComputedStyle(root);
  return themeFrom((name) => style.getPropertyValue(`--${name}`).trim());
}

/** The theme of colours by name, as the style sheet calls them. */
export function themeFrom(colour: (name: string) => string): Theme {
  const ramp = Array.from({ length: stops }, (_, i) =>
    [1, 3, 5].map((at) => parseInt(colour(`h${i}`).slice(at, at + 2), 16)),
  );
  const heat = Array.from({ length: heatSteps }, (_, i) => {
    const place = (i / (heatSteps - 1)) * (stops - 1);
    const from = Math.min(stops - 2, Math.floor(place));
    const mixed = ramp[from]!.map((x, c) =>
      Math.round(x + (ramp[from + 1]![c]! - x) * (place - from)),
    );
    return `#${mixed.map((x) => x.toString(16).padStart(2, "0")).join("")}`;
  });
  return {
    ...{ paper: colour("paper"), surface: colour("surface"), ink: colour("ink") },
    ...{ ink2: colour("ink-2"), ink3: colour("ink-3"), line: colour("line") },
    ...{ lineStrong: colour("line-strong"), accent: colour("accent"), heat },
    ...{ accentSoft: colour("accent-soft"), right: colour("right"), wrong: colour("wrong") },
    ...{ tool: colour("tool"), toolSoft: colour("tool-soft"), toolLine: colour("tool-line") },
    ...{ track: colour("track"), wrongSoft: colour("wrong-soft") },
  };
}
