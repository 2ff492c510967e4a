import { checkOptions, rulesWithout } from "../../../common/options/check-options.js";
import { pageGround } from "../../../common/picture/palette.js";
import type { FigureLike } from "../../../common/picture/figure-like.js";
import type { LaterView, SelfShown } from "./shown.js";
import { type PngOptions, pngRules, rendererOf } from "./to-png.js";
import { toSvg } from "./to-svg.js";

export type PdfOptions = Omit<PngOptions, "scale">;

export const pdfRules = rulesWithout(pngRules, "scale");

type Attributes = ReadonlyMap<string, string>;

/** A point of PDF is 1/72 inch, a pixel of SVG 1/96. */
const pointsPerPixel = 0.75;
const caps = ["butt", "round", "square"];
const joins = ["miter", "round", "bevel"];
/** What the renderer's simplified SVG consists of where a picture has no gradient, image, filter, mask or pattern. */
const known = new Set(["svg", "g", "path", "defs", "clipPath"]);

const short = (x: number): string => String(Math.round(x * 1000) / 1000);

/** A path's lines with PDF's operators; its curves are cubic there. */
function outlineOf(d: string): string {
  let [x, y] = [0, 0];
  return [...d.matchAll(/([MLQCZ])([^MLQCZ]*)/g)]
    .map(([, kind, numbers = ""]) => {
      const at = numbers.trim().split(/[\s,]+/).map(Number); // prettier-ignore
      if (kind === "Z") return "h";
      const points = kind === "Q" ? cubic(x, y, at) : at;
      [x, y] = at.slice(-2) as [number, number];
      return `${points.map(short).join(" ")} ${kind === "M" ? "m" : kind === "L" ? "l" : "c"}`;
    })
    .join("\n");
}

function cubic(x: number, y: number, [a, b, toX, toY]: number[]): number[] {
  const towards = (from: number, to: number) => from + (2 / 3) * (to - from);
  return [towards(x, a!), towards(y, b!), towards(toX!, a!), towards(toY!, b!), toX!, toY!];
}

/** Content of a PDF page, and the objects that it names. */
class Content {
  /** Graphics states and groups by their names. */
  readonly states = new Map<string, string>();
  readonly groups: string[] = [];
  readonly #clips = new Map<string, string>();
  readonly #open: { lines: string[]; opacity: number }[] = [{ lines: [], opacity: 1 }];
  #clip: string | undefined;

  text(svg: string): string {
    for (const [, end, name = "", text = "", alone] of svg.matchAll(
      /<(\/?)([A-Za-z]+)([^>]*?)(\/?)>/g,
    )) {
      if (!known.has(name)) {
        throw new TypeError(
          `Cannot make a PDF: the picture must consist of lines, areas and text, got ${name}; save it as .svg or .png`,
        );
      }
      const attributes = new Map(
        [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [key!, value!]),
      );
      if (name === "clipPath") this.#clip = end === "" ? attributes.get("id") : undefined;
      else if (name === "path") this.#path(attributes);
      else if (name === "g") {
        if (end === "") this.#begin(attributes);
        if (end !== "" || alone !== "") this.#end();
      }
    }
    return this.#open[0]!.lines.join("\n");
  }

  #say(line: string): void {
    this.#open.at(-1)!.lines.push(line);
  }

  #state(entries: string): string {
    const name = this.states.get(entries) ?? `S${this.states.size}`;
    this.states.set(entries, name);
    return `/${name} gs`;
  }

  #begin(attributes: Attributes): void {
    this.#say("q");
    const matrix = /matrix\(([^)]*)\)/.exec(attributes.get("transform") ?? "")?.[1];
    if (matrix !== undefined) this.#say(`${matrix.trim()} cm`);
    const clip = /url\(#(.*)\)/.exec(attributes.get("clip-path") ?? "")?.[1];
    if (clip !== undefined) this.#say(`${this.#clips.get(clip) ?? ""}\nW n`);
    this.#open.push({ lines: [], opacity: Number(attributes.get("opacity") ?? 1) });
  }

  /** A group that light shines through is painted by itself first, as in SVG. */
  #end(): void {
    const { lines, opacity } = this.#open.pop()!;
    if (opacity === 1) this.#open.at(-1)!.lines.push(...lines);
    else {
      this.#say(`${this.#state(`/ca ${opacity} /CA ${opacity}`)} /G${this.groups.length} Do`);
      this.groups.push(lines.join("\n"));
    }
    this.#say("Q");
  }

  #path(attributes: Attributes): void {
    const of = (key: string, otherwise: string): string => attributes.get(key) ?? otherwise;
    const outline = outlineOf(of("d", ""));
    if (this.#clip !== undefined) {
      this.#clips.set(this.#clip, `${this.#clips.get(this.#clip) ?? ""}\n${outline}`);
      return;
    }
    const matrix = /matrix\(([^)]*)\)/.exec(of("transform", ""))?.[1];
    const fill = colour(of("fill", "#000000"), "rg");
    const stroke = colour(of("stroke", "none"), "RG");
    const look = [fill, stroke];
    const [ca, CA] = [of("fill-opacity", "1"), of("stroke-opacity", "1")];
    if (ca !== "1" || CA !== "1") look.push(this.#state(`/ca ${ca} /CA ${CA}`));
    if (stroke !== "") {
      look.push(`${of("stroke-width", "1")} w ${caps.indexOf(of("stroke-linecap", "butt"))} J`);
      look.push(`${Math.max(0, joins.indexOf(of("stroke-linejoin", "miter")))} j`);
      const dashes = attributes.get("stroke-dasharray");
      look.push(`[${dashes ?? ""}] ${of("stroke-dashoffset", "0")} d`);
      look.push(`${of("stroke-miterlimit", "4")} M`);
    }
    const rule = of("fill-rule", "nonzero") === "evenodd" ? "*" : "";
    const paint = fill === "" ? (stroke === "" ? "n" : "S") : `${stroke === "" ? "f" : "B"}${rule}`;
    const moved = matrix === undefined ? "" : `${matrix.trim()} cm`;
    this.#say(["q", moved, ...look, outline, paint, "Q"].filter((line) => line !== "").join("\n"));
  }
}

/** `#rrggbb` as PDF's operator has it; empty for none. */
function colour(value: string, operator: string): string {
  if (value === "none") return "";
  const parts = /^#(..)(..)(..)$/.exec(value)?.slice(1);
  if (parts === undefined) {
    throw new TypeError(
      `Cannot make a PDF: the picture must have plain colours, got ${value}; save it as .svg or .png`,
    );
  }
  return `${parts.map((hex) => short(parseInt(hex, 16) / 255)).join(" ")} ${operator}`;
}

async function packed(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * A figure, anything that shows itself in a view, or any SVG of lines, areas and text, as the bytes of a PDF of one page. It is a vector
 * picture as large as the SVG, with texts as outlines. It needs a font, and no browser.
 *
 * @param figure a figure, a value that shows itself, or SVG
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { passAtKCurve, toPdf } from "arpo-lab/view";
 *
 * const pdf = await toPdf(passAtKCurve({ tiny: [{ n: 2, correct: 1 }] }));
 * assert.equal(new TextDecoder().decode(pdf.subarray(0, 5)), "%PDF-");
 * ```
 */
export async function toPdf(
  figure: FigureLike | SelfShown | LaterView | string,
  options: PdfOptions = {},
): Promise<Uint8Array> {
  checkOptions("make a PDF", options, pdfRules);
  const { background = pageGround.light.paper, fontFiles } = options;
  const svg = typeof figure === "string" ? figure : await toSvg(figure);
  const ground = `<rect width="100%" height="100%" fill="${background}"/>`;
  const whole = background === "transparent" ? svg : svg.replace(/<svg\b[^>]*>/, `$&${ground}`);
  const picture = (await rendererOf("make a PDF", whole, fontFiles)).toString();
  const sizes = /width="([\d.]+)" height="([\d.]+)" viewBox="([^"]*)"/.exec(picture)!;
  const [width = 0, height = 0] = sizes.slice(1, 3).map((x) => Number(x) * pointsPerPixel);
  const [left = 0, top = 0, wide = 1, high = 1] = sizes[3]!.split(" ").map(Number);
  const scale = Math.min(width / wide, height / high);
  const content = new Content();
  const drawn = content.text(picture);
  const placed = `${short(scale)} 0 0 ${short(-scale)} ${short(-left * scale)} ${short(height + top * scale)} cm\n`;
  const first = 5;
  const states = [...content.states].map(([entries, name]) => `/${name} <<${entries}>>`);
  const groups = content.groups.map((_, i) => `/G${i} ${first + i} 0 R`);
  const box = `[${left} ${top} ${left + wide} ${top + high}]`;
  const form = `/Type /XObject /Subtype /Form /BBox ${box} /Group <</S /Transparency>> /Resources 3 0 R `;
  return await fileOf([
    ["/Type /Catalog /Pages 2 0 R"],
    [
      `/Type /Pages /Kids [<</Type /Page /Parent 2 0 R /MediaBox [0 0 ${short(width)} ${short(height)}] ` +
        "/Group <</S /Transparency /CS /DeviceRGB>> /Resources 3 0 R /Contents 4 0 R>>] /Count 1",
    ],
    [`/ExtGState <<${states.join(" ")}>> /XObject <<${groups.join(" ")}>>`],
    ["", placed + drawn],
    ...content.groups.map((group): [string, string] => [form, group]),
  ]);
}

/** A PDF of dictionaries and streams, which are objects 1, 2, … */
async function fileOf(objects: [dictionary: string, stream?: string][]): Promise<Uint8Array> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const parts: Uint8Array<ArrayBufferLike>[] = [bytes("%PDF-1.4\n")];
  let length = parts[0]!.length;
  const say = (...more: Uint8Array[]) => {
    parts.push(...more);
    for (const part of more) length += part.length;
  };
  const places: number[] = [];
  for (const [i, [dictionary, stream]] of objects.entries()) {
    places.push(length);
    if (stream === undefined) say(bytes(`${i + 1} 0 obj\n<<${dictionary}>>\nendobj\n`));
    else {
      const data = await packed(stream);
      const said = `${dictionary}/Filter /FlateDecode /Length ${data.length}`;
      say(bytes(`${i + 1} 0 obj\n<<${said}>>\nstream\n`), data, bytes("\nendstream\nendobj\n"));
    }
  }
  const lines = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`);
  const size = objects.length + 1;
  say(
    bytes(
      `xref\n0 ${size}\n0000000000 65535 f \n${lines.join("")}trailer\n<</Size ${size} /Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
