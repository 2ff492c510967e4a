/** A number in few characters. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value) || Number.isInteger(value)) {
    const text = String(value);
    return text.length <= 15 ? text : value.toExponential(4);
  }
  const exact = String(value);
  if (exact.length <= 8) return exact;
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1e7 ? String(Number(value.toPrecision(5))) : value.toExponential(3);
}

/** Maps an axis's values to [0, 1], and names places on it. */
export interface Scale {
  at(value: unknown): number;
  ticks: { at: number; label: string }[];
}

/** A step of 1, 2 or 5 times a power of ten that divides a span into at most `count` parts. */
function niceStep(span: number, count: number): number {
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const part = rough / power;
  return (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * power;
}

/** Round numbers between two ends, at most about `count` of them, at least `least` apart. */
export function roundPlaces(from: number, to: number, count = 6, least = 0): number[] {
  const step = Math.max(least, niceStep(to - from, count));
  const first = Math.ceil(from / step - 1e-9);
  const many = Math.max(0, Math.floor(to / step + 1e-9) - first + 1);
  return Array.from({ length: many }, (_, i) => Number(((first + i) * step).toPrecision(12)) + 0);
}

function linear(from: number, to: number, name: (x: number) => string = formatNumber): Scale {
  const span = to - from;
  const ticks = roundPlaces(from, to).map((value) => ({
    at: (value - from) / span,
    label: name(value),
  }));
  return { at: (value) => (Number(value) - from) / span, ticks };
}

function logarithmic(from: number, to: number): Scale {
  const inner = linear(Math.log10(from), Math.log10(to), (x) => formatNumber(10 ** x));
  const whole = inner.ticks.filter((t) =>
    Number.isInteger(Number(Math.log10(Number(t.label)).toFixed(6))),
  );
  return {
    at: (value) => inner.at(Math.log10(Number(value))),
    ticks: whole.length >= 2 ? whole : inner.ticks,
  };
}

function categories(names: string[]): Scale {
  const places = new Map(names.map((name, i) => [name, (i + 0.5) / names.length]));
  const every = Math.ceil(names.length / 12);
  const ticks = names.map((label, i) => ({ at: places.get(label)!, label, i }));
  return {
    at: (value) => places.get(String(value)) ?? NaN,
    ticks: ticks.filter(({ i }) => i % every === 0).map(({ at, label }) => ({ at, label })),
  };
}

function dates(from: number, to: number): Scale {
  const span = Math.max(to - from, 1);
  const long = span > 3 * 86_400_000;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((at) => {
    const text = new Date(from + at * span).toISOString();
    return { at, label: long ? text.slice(0, 10) : text.slice(5, 16).replace("T", " ") };
  });
  return { at: (value) => (Date.parse(String(value)) - from) / span, ticks };
}

const isDate = (text: string): boolean =>
  /^\d{4}-\d\d/.test(text) && !Number.isNaN(Date.parse(text));

function upright(
  values: unknown[],
  axis: Record<string, unknown>,
  options: { zero?: boolean; tight?: boolean } = {},
): Scale {
  const given = values.filter((value) => value !== null && value !== undefined);
  const texts = given.filter((value) => typeof value === "string");
  if (
    texts.length > 0 &&
    axis["type"] !== "linear" &&
    !texts.every((t) => t !== "" && Number.isFinite(Number(t)))
  ) {
    if (texts.every(isDate)) {
      const times = texts.map((t) => Date.parse(t));
      return dates(Math.min(...times), Math.max(...times));
    }
    return categories([...new Set(given.map(String))]);
  }
  const log = axis["type"] === "log";
  let [from, to] = [Infinity, -Infinity];
  for (const value of given) {
    const x = Number(value);
    if (!Number.isFinite(x) || (log && x <= 0)) continue;
    from = Math.min(from, x);
    to = Math.max(to, x);
  }
  if (options.zero === true && !log) [from, to] = [Math.min(from, 0), Math.max(to, 0)];
  if (!(from <= to)) [from, to] = log ? [1, 10] : [0, 1];
  const range = axis["range"];
  if (Array.isArray(range) && range.length === 2 && range.every((x) => typeof x === "number")) {
    [from, to] = (log ? range.map((x) => 10 ** x) : range) as [number, number];
  } else if (log) {
    if (from === to) [from, to] = [from / 10, to * 10];
  } else {
    if (from === to) [from, to] = [from - 0.5, to + 0.5];
    const room = options.tight === true ? 0 : (to - from) * 0.04;
    if (!(options.zero === true && from === 0)) from -= room;
    if (!(options.zero === true && to === 0)) to += room;
  }
  return log ? logarithmic(from, to) : linear(from, to);
}

/** The scale that an axis's values ask for, with a little room around numbers unless `tight`. */
export function scaleOf(
  values: unknown[],
  axis: Record<string, unknown>,
  options: { zero?: boolean; tight?: boolean } = {},
): Scale {
  const scale = upright(values, axis, options);
  if (axis["autorange"] !== "reversed") return scale;
  return {
    at: (value) => 1 - scale.at(value),
    ticks: scale.ticks.map(({ at, label }) => ({ at: 1 - at, label })),
  };
}
