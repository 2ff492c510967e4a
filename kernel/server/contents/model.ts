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
