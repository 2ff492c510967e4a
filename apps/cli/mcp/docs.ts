import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packagePath } from "../../../common/platform/node/modules.js";

interface Section {
  page: string;
  title: string;
  text: string;
  words: Map<string, number>;
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

const folder = () => packagePath("docs");

/** The names of the documentation's pages. */
export const pageNames = (): string[] =>
  readdirSync(folder())
    .filter((name) => name.endsWith(".md") && name !== "CHANGELOG.md")
    .map((name) => name.slice(0, -3))
    .sort();

/** A page's text; undefined where there is none. */
export function pageText(name: string): string | undefined {
  return pageNames().includes(name)
    ? readFileSync(join(folder(), `${name}.md`), "utf8")
    : undefined;
}

let all: Section[] | undefined;

/** The pages, cut at their headings. */
function sections(): Section[] {
  return (all ??= pageNames().flatMap((page) =>
    pageText(page)!
      .split(/^(?=#{1,3} )/m)
      .filter((text) => text.trim() !== "")
      .map((text): Section => {
        const title = /^#{1,3} (.+)$/m.exec(text)?.[1] ?? page;
        const words = new Map<string, number>();
        for (const word of wordsIn(text)) words.set(word, (words.get(word) ?? 0) + 1);
        for (const word of wordsIn(`${title} ${page}`)) words.set(word, (words.get(word) ?? 0) + 8);
        return { page, title, text: text.trim(), words };
      }),
  ));
}

/** How often a word counts in a section: at its beginning too, so that "branch" finds "branching". */
function occurrences({ words }: Section, word: string): number {
  const exact = words.get(word) ?? 0;
  if (exact > 0 || word.length < 4) return exact;
  for (const [other, count] of words) if (other.startsWith(word)) return count / 2;
  return 0;
}

/** The sections that fit best, by BM25. */
export function searchDocs(
  query: string,
  most: number,
): { page: string; title: string; text: string }[] {
  const words = [...new Set(wordsIn(query))].slice(0, 16);
  const pool = sections();
  const size = (section: Section) => section.text.length;
  const average = pool.reduce((sum, section) => sum + size(section), 0) / pool.length;
  const scores = new Map<Section, number>();
  for (const word of words) {
    const counts = pool.map((section) => occurrences(section, word));
    const having = counts.filter((count) => count > 0).length;
    const rare = Math.log(1 + (pool.length - having + 0.5) / (having + 0.5));
    counts.forEach((count, i) => {
      const section = pool[i]!;
      const worth = (count * 2.2) / (count + 1.2 * (0.25 + (0.75 * size(section)) / average));
      if (count > 0) scores.set(section, (scores.get(section) ?? 0) + rare * worth);
    });
  }
  return [...scores]
    .sort(([, a], [, b]) => b - a)
    .slice(0, most)
    .map(([{ page, title, text }]) => ({ page, title, text }));
}
