import { writeDurablySync } from "../../../common/files/durable.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { existsSync, readFileSync } from "#platform/files";
import { z } from "#zod";
import { brightDataHits } from "./bright-data.js";
import { formatHits, type FormatOptions, nothingFound } from "./provider.js";
import { openDatabase } from "./offline.js";
import { evaluationKey, type CachedSearch, type SearchCache } from "./search-cache.js";

const jsonCache = z.record(z.string(), z.string());

/**
 * Takes in a reference training cache: one JSON object, query to text. Returns how many queries.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtempSync, writeFileSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { SearchCache } from "arpo-lab/tools";
 * import { importJsonCache } from "arpo-lab/experimental/tools";
 *
 * const path = join(mkdtempSync(join(tmpdir(), "cache-")), "search_cache.json");
 * writeFileSync(path, JSON.stringify({ Oslo: "Page 1: Capital of Norway" }));
 * const cache = new SearchCache();
 * assert.equal(importJsonCache(cache, path), 1);
 * assert.equal(cache.text("Oslo"), "Page 1: Capital of Norway");
 * ```
 */
export function importJsonCache(cache: SearchCache, path: string, at = Date.now()): number {
  checkArguments(
    "import a cache",
    { cache, path, at },
    { cache: "object", path: "path", at: "number" },
  );
  const parsed = jsonCache.safeParse(parseOr(readFileSync(path, "utf8")));
  if (!parsed.success) {
    throw new TypeError(
      `Cannot import ${path}: it must be one JSON object from query to text, got something else`,
    );
  }
  for (const [query, text] of Object.entries(parsed.data)) cache.set(query, { text, at });
  return Object.keys(parsed.data).length;
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // Refused by the caller, with the file's name.
  }
}

/** Writes a cache in the reference's form (indent 2, non-ASCII kept), replacing the file at once. */
export function exportJsonCache(cache: SearchCache, path: string, format?: FormatOptions): number {
  checkArguments("export a cache", { cache, path }, { cache: "object", path: "path" });
  const texts: Record<string, string> = {};
  for (const [query, entry] of cache.entries()) {
    texts[query] = entry.text ?? formatHits(entry.hits ?? [], format);
  }
  writeDurablySync(path, JSON.stringify(texts, null, 2));
  return Object.keys(texts).length;
}

/** Takes in a reference evaluation cache: an SQLite file with a table `cache`. */
export function importEvaluationCache(cache: SearchCache, path: string): number {
  checkArguments("import a cache", { cache, path }, { cache: "object", path: "path" });
  if (!existsSync(path)) throw new Error(`Cannot import ${path}: the file must exist, got none`);
  const database = openDatabase(path, { readOnly: true });
  try {
    const rows = database.all("SELECT key, obj, timestamp FROM cache WHERE valid = 1") as {
      key: string;
      obj: string;
      timestamp: number | string | null;
    }[];
    for (const { key, obj, timestamp } of rows) {
      const hits = brightDataHits(parseOr(obj) ?? {});
      cache.setByEvaluationKey(key, { hits, at: milliseconds(timestamp) });
    }
    return rows.length;
  } finally {
    database.close();
  }
}

/** Seconds since 1970 as a number or numeric text, or a date as SQLite writes it. */
function milliseconds(timestamp: number | string | null): number {
  const seconds = Number(timestamp ?? NaN);
  if (Number.isFinite(seconds)) return seconds * 1000;
  const date = Date.parse(`${String(timestamp).replace(" ", "T")}Z`);
  return Number.isFinite(date) ? date : Date.now();
}

/** Writes a reference evaluation cache, with the key, the columns and the value it expects. */
export function exportEvaluationCache(cache: SearchCache, path: string): number {
  checkArguments("export a cache", { cache, path }, { cache: "object", path: "path" });
  const database = openDatabase(path);
  try {
    database.exec(
      "CREATE TABLE IF NOT EXISTS cache (key TEXT PRIMARY KEY, obj TEXT, timestamp REAL, valid INTEGER DEFAULT 1); BEGIN",
    );
    const insert = database.prepare("INSERT OR REPLACE INTO cache VALUES (?, ?, ?, 1)");
    let count = 0;
    for (const [query, entry] of cache.entries()) {
      insert.run([evaluationKey(query), JSON.stringify(response(query, entry)), entry.at / 1000]);
      count++;
    }
    insert.finalize();
    database.exec("COMMIT");
    return count;
  } finally {
    database.close();
  }
}

/** An entry in the shape of a search response; text is taken apart into the pages it was made of. */
function response(query: string, { hits, text }: CachedSearch): unknown {
  const pages = hits ?? (text === nothingFound ? [] : splitText(text ?? ""));
  return {
    general: { query },
    organic: pages.map(({ description, title, url }) => ({ title, link: url, description })),
  };
}

function splitText(text: string): { description: string; title?: string; url?: string }[] {
  return text
    .split(/(?:^|\n)Page \d+: /)
    .filter((part) => part !== "")
    .map((description) => ({ description }));
}
