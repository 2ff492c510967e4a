import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ModelConfig } from "../../../src/model/config.js";
import { loadModel } from "../../../src/model/load/load-model.js";
import { saveModel } from "../../../src/model/files/save-model.js";
import { Asked } from "./asked.js";

export const python = process.env.ARPO_LAB_PYTHON ?? "python3";
export const has = (modules: string): boolean =>
  spawnSync(python, ["-c", `import ${modules}`], { stdio: "ignore" }).status === 0;

const script = (name: string) =>
  fileURLToPath(new URL(`../../../../tools/bench/baselines/${name}`, import.meta.url));

export interface Loaded {
  backend?: string;
  /** Ours says what model it is. */
  config?: ModelConfig;
  version?: string;
  load: number;
}

/** A process that decodes, and what it said when it was loaded. */
export interface Decoding {
  process: Asked;
  loaded: Loaded;
}

export async function decoding(command: string, args: readonly string[]): Promise<Decoding> {
  const process = new Asked(command, args);
  return { process, loaded: (await process.read()) as Loaded };
}

/** llama.cpp beside ours, on a GGUF file. */
export async function llamaCpp(
  model: string,
  settings: readonly string[],
): Promise<Decoding & { name: string }> {
  const args = [script("llama_baseline.py"), model, ...settings];
  return { name: "llama.cpp, xllamacpp", ...(await decoding(python, args)) };
}

/**
 * Who else decodes a model here: transformers, and llama.cpp for a GGUF file, where ARPO_LAB_PYTHON has them,
 * node-llama-cpp from the folder ARPO_LAB_NODE_LLAMA, vLLM of ARPO_LAB_VLLM_PYTHON. Each is loaded once,
 * whatever is compared with it.
 */
export class RealBaselines {
  readonly #open = new Map<string, Decoding>();
  #saved: string | undefined;

  constructor(
    readonly model: string,
    readonly settings: readonly string[],
  ) {}

  /** Those for one of our dtypes. On a processor nobody of them has less than bfloat16 of its own. */
  async for(dtype: string): Promise<(Decoding & { name: string })[]> {
    const theirs = dtype === "float32" ? dtype : "bfloat16";
    const { ARPO_LAB_NODE_LLAMA: nodeLlama, ARPO_LAB_VLLM_PYTHON: vllm } = process.env;
    const gguf = this.model.endsWith(".gguf");
    const found: (Decoding & { name: string })[] = [];
    const add = async (name: string, command: string, file: string, ...args: string[]) => {
      const all = [script(file), ...args, ...this.settings];
      found.push({ name, ...(await this.#once(command, all)) });
    };
    if (has("torch, transformers"))
      await add("transformers", python, "transformers_baseline.py", this.model, theirs);
    if (gguf && has("xllamacpp"))
      await add("llama.cpp, xllamacpp", python, "llama_baseline.py", this.model);
    if (gguf && nodeLlama)
      await add("node-llama-cpp", process.execPath, "node_llama_baseline.mjs", this.model);
    if (vllm) await add("vLLM", vllm, "vllm_baseline.py", await this.#folder(), theirs);
    return found;
  }

  async close(): Promise<void> {
    for (const { process } of this.#open.values()) await process.close();
    if (this.#saved) rmSync(this.#saved, { recursive: true });
  }

  async #once(command: string, args: readonly string[]): Promise<Decoding> {
    const key = args.join(" ");
    const opened = this.#open.get(key) ?? (await decoding(command, args));
    this.#open.set(key, opened);
    return opened;
  }

  /** The model as a folder, which is what vLLM reads. */
  async #folder(): Promise<string> {
    if (!this.model.endsWith(".gguf")) return this.model;
    if (!this.#saved) {
      this.#saved = mkdtempSync(join(tmpdir(), "arpo-baseline-"));
      const model = await loadModel(this.model);
      await saveModel(model, this.#saved);
      model.dispose();
    }
    return this.#saved;
  }
}
