import { fromTo, integerOrAll, type OptionRules } from "../../../common/options/check-options.js";
/** How a passage is cut out of a page. */
export interface PassageOptions {
  /** Characters of the page that are looked at. Default 20,000. */
  pageLength?: number;
  /** Characters kept on each side of the best sentence. Default 3,000. */
  around?: number;
  /** The overlap a sentence must exceed. Default 0.2. */
  leastF1?: number;
}

export const passageRules: OptionRules<PassageOptions> = {
  pageLength: integerOrAll(0),
  around: integerOrAll(0),
  leastF1: fromTo(0, 1),
};

const words = (text: string) =>
  new Set(
    text
      .toLowerCase()
      .replace(/[\p{P}\p{S}]/gu, "")
      .split(/\s+/)
      .filter((word) => word !== ""),
  );

/** Overlap of two sets of words. */
function f1(a: Set<string>, b: Set<string>): number {
  let common = 0;
  for (const word of b) if (a.has(word)) common++;
  return common === 0 ? 0 : (2 * common) / (a.size + b.size);
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** The sentences of a text and where they begin. A window at a time: V8 takes quadratic time for the sentences of one text. */
function* sentences(text: string): Generator<{ segment: string; from: number }> {
  const usual = 2000;
  let size = usual;
  for (let from = 0; from < text.length;) {
    const found = [...segmenter.segment(text.slice(from, from + size))];
    if (from + size < text.length) {
      // The last sentence may go on behind the window.
      if (found.length === 1) {
        size *= 2;
        continue;
      }
      found.pop();
    }
    for (const { segment } of found) {
      yield { segment, from };
      from += segment.length;
    }
    size = usual;
  }
}

/**
 * The part of a page around the sentence that shares most words with a search result's snippet; the
 * beginning of the page when no sentence shares enough.
 */
export function bestPassage(
  page: string,
  snippet: string,
  options: PassageOptions = {},
): { text: string; matched: boolean } {
  const { pageLength = 20_000, around = 3000, leastF1 = 0.2 } = options;
  const text = page.slice(0, pageLength);
  const wanted = words(snippet);
  let best = leastF1;
  let found: { from: number; to: number } | undefined;
  for (const { segment, from } of sentences(text)) {
    const overlap = f1(wanted, words(segment));
    if (overlap <= best) continue;
    best = overlap;
    found = { from, to: from + segment.length };
  }
  if (!found) return { text: text.slice(0, 2 * around), matched: false };
  return {
    text: text.slice(Math.max(0, found.from - around), found.to + around),
    matched: true,
  };
}
