import type { BenchmarkReport } from "../../eval/report/benchmark-report.js";
import { escapeHtml } from "../../../common/picture/escape.js";
import { axis } from "../../../common/picture/axis.js";
import { neutral } from "../../../common/picture/grey.js";
import { palettes } from "../../../common/picture/palette.js";

const { series, wrong } = palettes.auto;
const ink = "currentColor";
const digits = (x: number) => String(Math.round(x * 10) / 10);

interface Chart {
  title: string;
  /** What it shows, in words. */
  words: string;
  width: number;
  height: number;
  marks: string;
}

/** A drawing with a caption; the words are there for who does not see it. */
function chart(shown: Chart): string {
  return `<figure class="arpo-chart"><figcaption>${escapeHtml(shown.title)}</figcaption>${svg(shown)}</figure>`;
}

/** The drawing alone. */
function svg({ words, width, height, marks }: Chart): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${escapeHtml(words)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-size="12" font-family="system-ui,sans-serif" fill="${ink}">${marks}</svg>`;
}

const left = 170;
const across = 420;
const lane = 22;
const at = (share: number) => digits(left + share * across);

const quarters = [0, 0.25, 0.5, 0.75, 1];

const text = (x: number | string, y: number, words: string, anchor = "start") =>
  `<text x="${x}" y="${digits(y)}" text-anchor="${anchor}">${escapeHtml(words)}</text>`;

/** Lines and figures of a per-cent axis below so many lanes. */
function grid(lanes: number): string {
  const bottom = lanes * lane + 4;
  const ticks = quarters.map((share) => ({
    at: left + share * across,
    label: digits(100 * share),
  }));
  return axis("below", bottom + 14, ticks, { grid: [0, bottom] });
}

/** Accuracy with its interval, a bar per benchmark; published figures that may be compared as rings. */
export const accuracyChart = (reports: readonly BenchmarkReport[]): string =>
  chart(accuracyOf(reports));

/** The same without its caption. */
export const accuracyPicture = (reports: readonly BenchmarkReport[]): string =>
  svg(accuracyOf(reports));

function accuracyOf(reports: readonly BenchmarkReport[]): Chart {
  const marks = reports.map(({ name, accuracy, published }, i) => {
    const y = i * lane + 14;
    if (Number.isNaN(accuracy.value)) return text(left - 8, y + 4, `${name}: none`, "end");
    const { value, low, high } = accuracy;
    const rings = published
      .filter(({ k, unlike }) => k === 1 && unlike.length === 0)
      .map(
        (p) =>
          `<circle cx="${at(p.value / 100)}" cy="${y}" r="5" fill="none" stroke="${series[3]}" stroke-width="2"><title>${escapeHtml(`${p.algorithm}, ${p.model}: ${p.value} (${p.source})`)}</title></circle>`,
      );
    return (
      text(left - 8, y + 4, name, "end") +
      `<rect x="${left}" y="${y - 6}" width="${digits(value * across)}" height="12" rx="2" fill="${series[0]}"/>` +
      `<path d="M${at(low)} ${y}H${at(high)}M${at(low)} ${y - 4}v8M${at(high)} ${y - 4}v8" stroke="${ink}" fill="none"/>` +
      rings.join("")
    );
  });
  const words = reports.map(
    ({ name, accuracy }) => `${name} ${digits(100 * accuracy.value)} per cent`,
  );
  return {
    title: "Accuracy, per cent, with its 95% interval over the questions",
    words: `Accuracy: ${words.join("; ")}.`,
    width: left + across + 30,
    height: reports.length * lane + 24,
    marks: grid(reports.length) + marks.join(""),
  };
}

/** pass@k over k, a line per benchmark; nothing where there is one sample only. */
export function passChart(reports: readonly BenchmarkReport[]): string {
  const drawn = reports.filter(({ passAt }) => passAt.length > 1);
  if (drawn.length === 0) return "";
  const most = Math.max(...drawn.map(({ passAt }) => passAt.length));
  const height = Math.max(180, drawn.length * 16);
  const x = (k: number) => digits(40 + ((k - 1) / (most - 1)) * 330);
  const y = (share: number) => digits(10 + (1 - share) * (height - 20));
  const rows = quarters.map((share) => ({ at: Number(y(share)), label: digits(100 * share) }));
  const ks = Array.from({ length: most }, (_, i) => ({
    ...{ at: Number(x(i + 1)), label: `k = ${i + 1}` },
  }));
  const axes = axis("left", 34, rows, { grid: [40, 370] }) + axis("below", height + 8, ks);
  const lines = drawn.map(({ name, passAt }, i) => {
    const colour = series[i % series.length];
    const dash = i < series.length ? "" : ` stroke-dasharray="5 3"`;
    const points = passAt.map(({ k, value }) => `${x(k)},${y(value)}`).join(" ");
    const legend = 16 + i * 16;
    return (
      `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>` +
      `<line x1="400" x2="424" y1="${legend - 4}" y2="${legend - 4}" stroke="${colour}" stroke-width="2"${dash}/>` +
      text(430, legend, name)
    );
  });
  const words = drawn.map(
    ({ name, passAt }) =>
      `${name} from ${digits(100 * passAt[0]!.value)} to ${digits(100 * passAt.at(-1)!.value)}`,
  );
  return chart({
    title: "pass@k, per cent: the chance that one of k samples is right",
    words: `pass@k: ${words.join("; ")}.`,
    width: 620,
    height: height + 16,
    marks: axes + lines.join(""),
  });
}

/** Calls per sample by tool, stacked; failed and refused calls distinguished. */
export function toolChart(reports: readonly BenchmarkReport[]): string {
  const tags = [...new Set(reports.flatMap(({ tools }) => Object.keys(tools)))].sort();
  if (tags.length === 0) return "";
  const made = (r: BenchmarkReport) =>
    Math.max(1, r.questions * r.samplesPerQuestion - r.status.error);
  const parts = (report: BenchmarkReport) => {
    const uses = tags.map((tag) => ({ tag, use: report.tools[tag] }));
    return [
      ...uses.map(({ tag, use }, i) => ({
        label: tag,
        count: use ? use.calls - use.failed : 0,
        colour: series[i % series.length],
      })),
      {
        label: "failed",
        count: uses.reduce((sum, { use }) => sum + (use?.failed ?? 0), 0),
        colour: wrong,
      },
      {
        label: "refused",
        count: uses.reduce((sum, { use }) => sum + (use ? use.limited + use.repeated : 0), 0),
        colour: neutral,
      },
    ].map(({ label, count, colour }) => ({ label, colour, calls: count / made(report) }));
  };
  const total = (report: BenchmarkReport) =>
    parts(report).reduce((sum, { calls }) => sum + calls, 0);
  const widest = Math.max(0.1, ...reports.map(total));
  const marks = reports.map((report, i) => {
    const y = i * lane + 14;
    let from = left;
    const bars = parts(report).map(({ label, calls, colour }) => {
      const width = (calls / widest) * across;
      const bar = `<rect x="${digits(from)}" y="${y - 6}" width="${digits(width)}" height="12" fill="${colour}"><title>${escapeHtml(`${label}: ${calls.toFixed(2)} per sample`)}</title></rect>`;
      from += width;
      return calls > 0 ? bar : "";
    });
    const productivity = `${total(report).toFixed(2)}, productivity ${report.summary.tool_productivity.toFixed(1)}`;
    return (
      text(left - 8, y + 4, report.name, "end") +
      bars.join("") +
      text(digits(from + 6), y + 4, productivity)
    );
  });
  const legend = parts(reports[0]!).map(({ label, colour }, i) => {
    const x = left + i * 90;
    const y = reports.length * lane + 16;
    return `<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${colour}"/>${text(x + 14, y, label)}`;
  });
  const words = reports.map((report) => `${report.name} ${total(report).toFixed(2)}`);
  return chart({
    title: "Tool calls per sample, and tool productivity",
    words: `Tool calls per sample: ${words.join("; ")}.`,
    width: left + across + 160,
    height: reports.length * lane + 24,
    marks: marks.join("") + legend.join(""),
  });
}
