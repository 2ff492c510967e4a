/** A file that a reader dropped, by its name, with the folders it was dropped in. */
export interface GivenFile {
  name: string;
  bytes: Uint8Array;
}

/** What the page asks of its worker. */
export type Asked = { id: number } & (
  { kind: "open"; files: readonly GivenFile[] } | { kind: "explain"; prompt: number }
);

/** How far reading is. */
export interface ReadSoFar {
  progress: number;
  rows: number;
}

/** What the worker answers: HTML of views, or why there is none. */
export type Answered = { id: number } & ({ html: string } | { error: string } | ReadSoFar);
