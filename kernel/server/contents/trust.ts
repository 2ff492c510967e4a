import { toBase64 } from "#platform/bytes";
import { readFileSync } from "#platform/files";
import { dirname } from "#platform/path";
import { sha256 } from "#platform/sha256";
import { makeFolderSync } from "../../../common/files/durable.js";
import { writeAtomically } from "../../notebook/write.js";
import type { Json } from "../../../common/http-server/body.js";
import { codeText } from "./notebook-text.js";

const kept = 10_000;

const codeCells = (notebook: Json): Json[] =>
  (notebook["cells"] as Json[]).filter((cell) => cell["cell_type"] === "code");

function digest(notebook: Json): string {
  const bytes = sha256(codeText(notebook))
    .match(/../g)!
    .map((pair) => parseInt(pair, 16));
  const text = toBase64(Uint8Array.from(bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * Remembers which notebooks' outputs were made here. Scripts in the outputs of a notebook from
 * elsewhere must not run when it is opened; those of one's own must, and those of a notebook that came with
 * the lab and has not changed since.
 */
export class Trust {
  readonly #file: string | undefined;
  readonly #shipped: ReadonlySet<string>;
  #known: Set<string> | undefined;

  /** Without a file it remembers for as long as it lives. `shipped` are SHA-256 of notebooks that came with the lab. */
  constructor(file: string | undefined, shipped: ReadonlySet<string> = new Set()) {
    this.#file = file;
    this.#shipped = shipped;
  }

  #all(): Set<string> {
    if (this.#known !== undefined) return this.#known;
    let lines: string[] = [];
    try {
      if (this.#file !== undefined) lines = readFileSync(this.#file, "utf8").split("\n");
    } catch (error) {
      if ((error as { code?: string }).code !== "ENOENT") throw error;
    }
    return (this.#known = new Set(lines.filter((line) => line !== "")));
  }

  /** Tells each code cell whether its outputs are trusted, as front ends expect it; `bytes` are the notebook's file. */
  mark(notebook: Json, bytes: Uint8Array): void {
    const known =
      (this.#shipped.size > 0 && this.#shipped.has(sha256(bytes))) ||
      this.#all().has(digest(notebook));
    for (const cell of codeCells(notebook)) {
      const trusted = known || (cell["outputs"] as unknown[]).length === 0;
      cell["metadata"] = { ...(cell["metadata"] as Json), trusted };
    }
  }

  /** Takes the marks off again and remembers the notebook where all of it is trusted. */
  unmark(notebook: Json): void {
    let trusted = true;
    for (const cell of codeCells(notebook)) {
      const { trusted: mark, ...metadata } = cell["metadata"] as Json;
      trusted &&= mark === true || (cell["outputs"] as unknown[]).length === 0;
      cell["metadata"] = metadata;
    }
    const known = this.#all();
    const key = digest(notebook);
    if (!trusted || known.has(key)) return;
    known.add(key);
    if (this.#file === undefined) return;
    makeFolderSync(dirname(this.#file), 0o700);
    writeAtomically(this.#file, `${[...known].slice(-kept).join("\n")}\n`);
  }
}
