import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Task } from "../../tasks/task.js";
import { readIfThere } from "../../base/files/read-if-there.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";

/** Models of these types are split as Qwen2 is by transformers 5, whatever their tokenizer.json says. */
const splitAsQwen = /^qwen(2|3)(_moe|_next)?$/;

const qwen = {
  normalizer: { type: "NFC" },
  pre_tokenizer: {
    type: "Sequence",
    pretokenizers: [
      {
        type: "Split",
        pattern: {
          Regex:
            "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
        },
        behavior: "Isolated",
        invert: false,
      },
      { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    ],
  },
};

/** What loaders are known to disagree about: numbers, blanks, accents of two characters, other scripts. */
const probes = [" 12+3 = 47, 1234567", "a  b\n\n  12\t3", "e\u0301 naïve 北京 ½", "it's IT'S"];

/**
 * Refuses a model folder of this machine whose text would become other tokens in transformers 5, which verl
 * and vLLM read it with. A model that is not here is not looked at.
 */
export async function checkTokens(folder: string, tasks: readonly Task[]): Promise<void> {
  const [config, file] = await Promise.all(
    ["config.json", "tokenizer.json"].map((name) => readIfThere(join(folder, name))),
  );
  if (config === undefined || file === undefined) return;
  const { model_type: type } = JSON.parse(config) as { model_type?: string };
  if (type === undefined || !splitAsQwen.test(type)) return;
  const settings = await readFile(join(folder, "tokenizer_config.json"), "utf8");
  const ours = await HfTokenizer.load(folder);
  const theirs = new HfTokenizer({
    tokenizer: { ...(JSON.parse(file) as Record<string, unknown>), ...qwen },
    config: JSON.parse(settings) as Record<string, unknown>,
  });
  const prompts = tasks
    .slice(0, 100)
    .flatMap(({ prompt }) => (typeof prompt === "string" ? prompt : prompt.map((m) => m.content)));
  for (const text of [...probes, ...prompts]) {
    const [a, b] = [ours.encode(text), theirs.encode(text)];
    if (a.join() === b.join()) continue;
    throw new RangeError(
      `Cannot export to verl: the model's tokens must be the same there, got [${b.join()}] for ${JSON.stringify(text.slice(0, 60))}, here [${a.join()}]: transformers 5 splits a model of type ${type} as Qwen2, whatever ${join(folder, "tokenizer.json")} says`,
    );
  }
}
