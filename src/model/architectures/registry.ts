import { Registry } from "../../../common/options/registry.js";
import type { Architecture, ModelHead } from "./definition.js";
import { gemma3 } from "./gemma3.js";
import { llama } from "./llama.js";
import { qwen2 } from "./qwen2.js";
import { qwen3 } from "./qwen3.js";
import { qwen3_5 } from "./qwen3_5.js";
import { smollm3 } from "./smollm3.js";

const built = [qwen2, qwen3, llama, smollm3, gemma3, qwen3_5] as const;

/** The name of an architecture that comes with the library. */
export type ArchitectureName = (typeof built)[number]["name"];

/** The architectures whose models are read, trained and written. */
export const architectures = new Registry<Architecture, ArchitectureName>(
  "model architecture",
  built,
);

/** The classes that config.json may name, each with what it stands for. */
export const modelClasses = (): Map<string, { architecture: Architecture; head: ModelHead }> =>
  new Map(
    (["logits", "value"] as const).flatMap((head) =>
      architectures.all.map(
        (architecture) => [architecture.classes[head], { architecture, head }] as const,
      ),
    ),
  );

/** The architecture whose models have more than text around them in a class of this name. */
export const architectureAround = (name: unknown): Architecture | undefined =>
  architectures.all.find(({ around }) => around?.class === name);
