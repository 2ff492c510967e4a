/** `key=value` on the first line of a cell, with where it stands. */
export interface WrittenOption {
  key: string;
  keyStart: number;
  /** undefined when there is no `=`. */
  value: string | undefined;
  valueStart: number;
  valueEnd: number;
}

const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

/** Reads options from [start, end) of a cell; values may be quoted or have brackets with spaces. */
export function readOptions(source: string, start: number, end: number): WrittenOption[] {
  const options: WrittenOption[] = [];
  let at = start;
  while (at < end) {
    if (/\s/.test(source[at]!)) {
      at++;
      continue;
    }
    const keyStart = at;
    while (at < end && /[^\s=]/.test(source[at]!)) at++;
    const key = source.slice(keyStart, at);
    if (source[at] !== "=" || at >= end) {
      options.push({ key, keyStart, value: undefined, valueStart: at, valueEnd: at });
      continue;
    }
    const valueStart = ++at;
    at = endOfValue(source, at, end);
    options.push({ key, keyStart, value: source.slice(valueStart, at), valueStart, valueEnd: at });
  }
  return options;
}

function endOfValue(source: string, start: number, end: number): number {
  const open: string[] = [];
  let quote: string | undefined;
  let at = start;
  for (; at < end; at++) {
    const char = source[at]!;
    if (quote !== undefined) {
      if (char === "\\") at++;
      else if (char === quote) quote = undefined;
    } else if (/["'`]/.test(char)) quote = char;
    else if (closing[char] !== undefined) open.push(closing[char]);
    else if (char === open.at(-1)) open.pop();
    else if (/\s/.test(char) && open.length === 0) break;
  }
  return Math.min(at, end);
}
