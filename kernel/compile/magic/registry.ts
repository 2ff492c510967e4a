import { nativeImport } from "#kernel-platform/native";
import { builtins } from "./builtin.js";
import { checkStage, type Stage } from "../../contract/stage.js";

/** The stages of a session: those that packages name, and those that cells register. */
export class StageRegistry {
  readonly stages = new Map<string, Stage>();
  readonly #modules: readonly string[];
  readonly #folder: string;
  #loading: Promise<void> | undefined;
  #loaded: boolean;

  constructor(modules: readonly string[], folder: string) {
    this.#modules = modules;
    this.#folder = folder;
    this.#loaded = modules.length === 0;
  }

  add(stage: Stage): void {
    checkStage(stage);
    if (builtins[stage.name] !== undefined) {
      const rule = "the kernel has a magic of that name";
      throw new TypeError(`Cannot register a stage: ${rule}, got ${JSON.stringify(stage.name)}`);
    }
    this.stages.set(stage.name, stage);
  }

  /** Reads the modules that packages name; undefined once that is done. */
  load(): Promise<void> | undefined {
    if (this.#loaded) return undefined;
    this.#loading ??= this.#read();
    return this.#loading;
  }

  async #read(): Promise<void> {
    try {
      for (const specifier of this.#modules) {
        const module = await nativeImport(specifier, this.#folder);
        if (!Array.isArray(module.stages)) {
          const rule = "the module must export an array called stages";
          throw new TypeError(`Cannot load the stages of ${specifier}: ${rule}`);
        }
        for (const stage of module.stages as Stage[]) this.add(stage);
      }
      this.#loaded = true;
    } finally {
      this.#loading = undefined;
    }
  }
}
