import type { SiteFiles } from "../../../../common/platform/browser/site/mount.js";

/** Where a tab's lab is, and what it has. */
export interface Place {
  /** What every address begins with. */
  base: string;
  site: SiteFiles;
  environment: Record<string, string>;
}

/** What the thread of the cells is started with. */
export interface CellsData {
  place: Place;
  folder: string;
  words: SharedArrayBuffer | ArrayBuffer;
  wire: MessagePort;
  compiler: MessagePort;
  input: MessagePort;
  /** To the page, for interpreters of Python, and for threads. */
  python: MessagePort;
  threads: MessagePort;
  files: MessagePort;
}

/** What the compiler's thread is started with. */
export interface CompilerData {
  place: Place;
  folder: string;
  language: "typescript" | "javascript";
  /** From the thread of the cells, and from the one that speaks Jupyter. */
  callers: MessagePort[];
  files: MessagePort;
}

/** What a page is asked to have for a kernel. */
export interface KernelParts {
  /** Scripts by name, each with what it is told first and the ports in that. */
  threads: (
    | { name: "compiler.js"; data: CompilerData; ports: MessagePort[] }
    | { name: "cells.js"; data: CellsData; ports: MessagePort[] }
  )[];
  /** Asks for interpreters of Python. */
  python: MessagePort;
  /** Asks for more threads of the cells. */
  more: MessagePort;
  /** Hears which thread could not be loaded. */
  failed: MessagePort;
}
