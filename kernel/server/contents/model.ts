import { extname } from "#platform/path";

/** A file, notebook or folder as the contents API shows it. */
export interface ContentsModel {
  name: string;
  path: string;
  type: "directory" | "notebook" | "file";
  created: string;
  last_modified: string;
  writable: boolean;
  size: number | null;
  mimetype: string | null;
  format: "json" | "text" | "base64" | null;
  content: unknown;
  hash?: string | null;
  hash_algorithm?: string | null;
}

/** What is wanted of a path. */
export interface GetOptions {
  type?: string;
  format?: string;
  content?: boolean;
  hash?: boolean;
}

/** What a front end saves. */
export interface SaveModel {
  type?: string;
  format?: string;
  content?: unknown;
  /** 1, 2, …, the last is -1; undefined for all at once. */
  chunk?: number;
  /** When given, what the file must not have changed since. */
  last_modified?: string;
  hash?: string;
}

const types: Record<string, string> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".gif": "image/gif",
  ".html": "text/html",
  ".ico": "image/x-icon",
  ".ipynb": "application/x-ipynb+json",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".js": "text/javascript",
  ".json": "application/json",
  ".jsonl": "application/x-ndjson",
  ".map": "application/json",
  ".md": "text/markdown",
  ".mjs": "text/javascript",
  ".mp4": "video/mp4",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".ts": "text/x-typescript",
  ".txt": "text/plain",
  ".wasm": "application/wasm",
  ".wav": "audio/wav",
  ".webp": "image/webp",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".yaml": "text/yaml",
  ".yml": "text/yaml",
};

/** The media type of a file by its name; undefined where its name does not tell. */
export function mimeOf(name: string): string | undefined {
  return types[extname(name).toLowerCase()];
}
