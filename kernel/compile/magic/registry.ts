import type { CellDiagnostic } from "../../contract/compiler.js";
import { nativeImport } from "#kernel-platform/native";
import { checkStage, type Stage } from "../../contract/stage.js";
import { problem } from "./head.js";

/** A magic of the kernel's own: what it does to a cell and what may follow it on its line. */
interface Builtin {
  doc: string;
  /** Words it takes. */
  words?: Record<string, string>;
  /** Of cells that are not code: what the body is. */
  content?: "text/html" | "text/markdown" | "text/latex" | "image/svg+xml" | "bash";
}

export const builtins: Readonly<Record<string, Builtin>> = {
  bash: {
    doc: "Runs the body in bash. Off unless the kernel was started with ARPO_LAB_ALLOW_BASH=1.",
    content: "bash",
  },
  check: {
    doc: "Type errors stop the cell, also where the notebook turned that off.",
    words: { full: "all that the compiler says", notebook: "this cell and all that follow" },
  },
  html: { doc: "Shows the body as HTML.", content: "text/html" },
  js: { doc: "Runs the body as plain JavaScript, without types." },
  latex: { doc: "Shows the body as LaTeX.", content: "text/latex" },
  markdown: { doc: "Shows the body as Markdown.", content: "text/markdown" },
  nocheck: {
    doc: "Runs the cell whatever its types say. So does `// @ts-nocheck`.",
    words: { notebook: "this cell and all that follow" },
  },
  show: { doc: "Prints the TypeScript that the cell stands for and does not run it." },
  svg: { doc: "Shows the body as a picture.", content: "image/svg+xml" },
  time: { doc: "Tells how long the cell took." },
};

/** The stages of a session: those that packages name, and those that cells register. */
export class StageRegistry {
  readonly stages = new Map<string, Stage>();
  readonly #folder: string;
  /** Modules that are still to be read: the kernel's own, and those of the notebook's project. */
  #own: readonly string[];
  #project: readonly string[];
  #loading: Promise<string[]> | undefined;

  constructor(own: readonly string[], project: readonly string[], folder: string) {
    this.#own = own;
    this.#project = project.filter((name) => !own.includes(name));
    this.#folder = folder;
  }

  add(stage: Stage): void {
    checkStage(stage);
    if (builtins[stage.name] !== undefined) {
      const rule = "the kernel has a magic of that name";
      throw new TypeError(`Cannot register a stage: ${rule}, got ${JSON.stringify(stage.name)}`);
    }
    this.stages.set(stage.name, stage);
  }

  /**
   * Reads the modules that packages name; undefined where that is done. The code of a project runs only
   * with its cells, never because somebody looks at a notebook. Resolves to what of it was read.
   */
  load(withProject: boolean): Promise<string[]> | undefined {
    if (this.#own.length === 0 && (!withProject || this.#project.length === 0)) return undefined;
    const before = this.#loading ?? Promise.resolve([]);
    const loading = before.catch(() => undefined).then(() => this.#read(withProject));
    this.#loading = loading;
    return loading;
  }

  async #read(withProject: boolean): Promise<string[]> {
    for (const specifier of this.#own) await this.#readModule(specifier);
    this.#own = [];
    if (!withProject) return [];
    const modules = this.#project;
    for (const specifier of modules) await this.#readModule(specifier);
    this.#project = [];
    return [...modules];
  }

  async #readModule(specifier: string): Promise<void> {
    const module = await nativeImport(specifier, this.#folder);
    if (!Array.isArray(module.stages)) {
      const rule = "the module must export an array called stages";
      throw new TypeError(`Cannot load the stages of ${specifier}: ${rule}`);
    }
    for (const stage of module.stages as Stage[]) this.add(stage);
  }
}

/** Says whose code has run. */
export const loadedStages = (source: string, name: string): CellDiagnostic => ({
  ...problem(
    source,
    0,
    1,
    `The stages of ${name} were loaded, as the project's package.json says.`,
  ),
  severity: "warning",
});
