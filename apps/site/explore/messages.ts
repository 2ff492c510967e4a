/** A file that a reader dropped, by its name, with the folders it was dropped in. */
export interface GivenFile {
  name: string;
  bytes: Uint8Array;
}

/** What the page asks of its workers: one reads files, and each tree that is run again has its own. */
export type Asked = { id: number } & (
  | { kind: "open"; files: readonly GivenFile[] }
  | { kind: "explain"; prompt: number }
  /** A prompt's tree as a small file, or in the letters of a link; empty where it has too many. */
  | { kind: "finding" | "letters"; prompt: number }
  /** A finding, and files by their names: the policy's, and those of the package. */
  | { kind: "again"; finding: string; policy: readonly GivenFile[]; own: readonly GivenFile[] }
);

/** How far reading is. */
export interface ReadSoFar {
  progress: number;
  rows: number;
}

/** What a worker answers: HTML of views or other text, or why there is none. */
export type Answered = { id: number } & ({ answer: string } | { error: string } | ReadSoFar);
