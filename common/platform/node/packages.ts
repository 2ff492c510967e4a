// Packages that take a while to load, loaded by their first use, from code that cannot wait. Apart from
// modules.ts, because a bundle for a browser tab holds all of them where it holds one.
import { createRequire } from "node:module";
import type * as Jinja from "@huggingface/jinja";
import type * as Tokenizers from "@huggingface/tokenizers";
import type * as Lru from "lru-cache";
import type * as Sqlite from "node-sqlite3-wasm";

const require = createRequire(import.meta.url);

export const tokenizers = () => require("@huggingface/tokenizers") as typeof Tokenizers;
export const jinja = () => require("@huggingface/jinja") as typeof Jinja;
export const lruCache = () => require("lru-cache") as typeof Lru;
export const sqlite = () => require("node-sqlite3-wasm") as Pick<typeof Sqlite, "Database">;
