import { defined } from "../../../common/options/defined.js";
import { escapeHtml } from "../../../common/picture/escape.js";
import type { Look, Painter } from "./painter.js";
import { mono, sans } from "./theme.js";

/** Draws SVG: `parts` holds what was drawn so far. */
interface SvgPainter extends Painter {
  parts: string[];
}

const brief = (x: number) => String(Math.round(x * 10) / 10);
const short = (x: number) => String(Math.round(x * 100) / 100);

function attributes({ fill, stroke, width, dash, alpha, butt }: Look): string {
  return [
    ` fill="${fill ?? "none"}"`,
    stroke ? ` stroke="${stroke}" stroke-width="${width ?? 1}"` : "",
    stroke && dash && dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "",
    stroke && !butt ? ` stroke-linecap="round"` : "",
    alpha !== undefined && alpha < 1 ? ` opacity="${short(alpha)}"` : "",
  ].join("");
}

/** A painter that writes SVG. */
export function svgPainter(name = "clip"): SvgPainter {
  const parts: string[] = [];
  let clips = 0;
  return {
    parts,
    rect: (x, y, width, height, look) => {
      const round = look.round ? ` rx="${short(look.round)}"` : "";
      parts.push(
        `<rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(0, width))}" height="${short(Math.max(0, height))}"${round}${attributes(look)}/>`,
      );
    },
    path: (path, look) => {
      const brief = path.replace(/-?\d+\.\d{3,}/g, (x) => short(Number(x)));
      parts.push(`<path d="${brief}"${attributes(look)}/>`);
    },
    circle: (x, y, radius, look) =>
      void parts.push(
        `<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}"${attributes(look)}/>`,
      ),
    text: (x, y, text, look) => {
      // Half the height of capitals: not every program knows of other baselines.
      const { size = 11, wide } = look;
      const exact = wide === undefined ? "" : ` textLength="${short(wide)}" xml:space="preserve"`;
      const anchor = { left: "", center: ' text-anchor="middle"', right: ' text-anchor="end"' };
      parts.push(
        `<text x="${short(x)}" y="${short(y + 0.35 * size)}" font-size="${size}" font-weight="${look.weight ?? 400}"${exact}${look.mono ? ' class="mono"' : ""}${anchor[look.align ?? "left"]}${attributes({ fill: look.fill, ...defined({ alpha: look.alpha }) })}>${escapeHtml(text)}</text>`,
      );
    },
    bars: (bars, colours, alpha) =>
      bars.forEach((list, step) => {
        if (!list) return;
        let path = "";
        for (let i = 0; i < list.length; i += 4) {
          const [x, y, width, height] = [list[i]!, list[i + 1]!, list[i + 2]!, list[i + 3]!];
          path += `M${brief(x)} ${brief(y)}h${brief(width)}v${brief(height)}h${brief(-width)}`;
        }
        parts.push(`<path d="${path}"${attributes({ fill: colours[step]!, alpha })}/>`);
      }),
    clip: (x, y, width, height, draw) => {
      const id = `${name}${clips++}`;
      parts.push(
        `<clipPath id="${id}"><rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/></clipPath><g clip-path="url(#${id})">`,
      );
      draw();
      parts.push("</g>");
    },
  };
}

/** What stands in a picture besides its marks. */
interface StillSvg {
  width: number;
  height: number;
  title: string;
  /** What it shows, in words. */
  words: string;
  parts: readonly string[];
  /** Of texts that say nothing else. */
  size?: number;
}

/** A picture that stands alone: its fonts, its ground and its words are in it. */
export function stillSvg({ width, height, title, words, parts, size }: StillSvg): string {
  const [wide, tall] = [width, height].map((x) => Math.round(x * 10) / 10);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${tall}" viewBox="0 0 ${wide} ${tall}" ` +
    `style="max-width:100%;height:auto" font-family='${sans}'${size === undefined ? "" : ` font-size="${size}"`} role="img">` +
    `<title>${escapeHtml(title)}</title><desc>${escapeHtml(words)}</desc>` +
    `<style>.mono{font-family:${mono}}</style>${parts.join("")}</svg>`
  );
}
