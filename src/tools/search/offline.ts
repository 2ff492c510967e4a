import { readFileSync } from "#platform/files";
import { packagePath } from "#platform/modules";
import { sqlite } from "#platform/packages";
import { z } from "#zod";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import type { SearchHit, SearchProvider } from "./provider.js";
import type * as Sqlite from "node-sqlite3-wasm";

/** Opens an SQLite database, in memory without a path; the first call loads SQLite. */
export function openDatabase(path?: string, options?: { readOnly: boolean }): Sqlite.Database {
  const { Database } = sqlite();
  return new Database(path, options);
}

/** One page of a corpus: a line of its JSONL file. */
export interface CorpusPage {
  title: string;
  text: string;
  url?: string;
}

const page = z.object({ title: z.string(), text: z.string(), url: z.string().optional() });

/** The corpus that comes with the package: an invented country, its towns and its people. */
const shippedCorpus = () => packagePath("data/corpus/pages.jsonl");

/** The pages of a JSONL file. */
function readCorpus(path: string): CorpusPage[] {
  checkArguments("read a corpus", { path }, { path: "path" });
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line, i) => {
      if (line.trim() === "") return [];
      const parsed = page.safeParse(JSON.parse(line));
      if (parsed.success) return [parsed.data];
      throw new TypeError(
        `Cannot read ${path}: every line must have a title and a text, got line ${i + 1} without`,
      );
    });
}

/**
 * BM25 over a corpus in an embedded database (SQLite's FTS5): no network, the same answer every time.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { offlineSearch } from "arpo-lab/tools";
 *
 * const provider = offlineSearch({
 *   pages: [
 *     { title: "Oslo", text: "Oslo is the capital of Norway." },
 *     { title: "Fjord", text: "A fjord is a long, narrow inlet." },
 *   ],
 * });
 * const [first] = await provider.search("what is the capital of norway?");
 * assert.equal(first.title, "Oslo");
 * provider.dispose();
 * ```
 */
export function offlineSearch(
  options: {
    /** What is searched. Default: the pages at `path`. */
    pages?: Iterable<CorpusPage>;
    /** A JSONL file with a title and a text in each line. Default: the corpus that ships. */
    path?: string;
  } = {},
): SearchProvider & { dispose(): void } {
  checkOptions("search offline", options, { pages: "items?", path: "path?" });
  const database = openDatabase();
  database.exec(
    "CREATE VIRTUAL TABLE page USING fts5(title, text, url UNINDEXED, tokenize = 'porter unicode61'); BEGIN",
  );
  const insert = database.prepare("INSERT INTO page VALUES (?, ?, ?)");
  for (const { title, text, url } of options.pages ?? readCorpus(options.path ?? shippedCorpus())) {
    insert.run([title, text, url ?? null]);
  }
  insert.finalize();
  database.exec("COMMIT");
  // A title that holds the words says what the page is about. Ties go to the earlier page.
  const select = database.prepare(
    "SELECT title, text, url FROM page WHERE page MATCH ? ORDER BY bm25(page, 3.0, 1.0), rowid LIMIT ?",
  );
  return {
    name: "offline",
    search: (query, { limit = 10 } = {}) => {
      const words = matchExpression(query);
      if (words === "") return Promise.resolve([]);
      const rows = select.all([words, limit]) as {
        title: string;
        text: string;
        url: string | null;
      }[];
      return Promise.resolve(
        rows.map(({ title, text, url }): SearchHit => ({
          description: text,
          title,
          url: url ?? undefined,
        })),
      );
    },
    dispose: () => {
      select.finalize();
      database.close();
    },
  };
}

/** Any of the query's words, each quoted so that nothing in it is an operator. */
function matchExpression(query: string): string {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)].map((word) => `"${word}"`).join(" OR ");
}
