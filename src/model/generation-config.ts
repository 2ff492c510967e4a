import { checkArguments } from "../arguments/check-arguments.js";

/** What a `generation_config.json` says: where to stop, and how its authors would sample. */
export interface GenerationConfig {
  bosId?: number;
  eosIds: number[];
  padId?: number;
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repetitionPenalty?: number;
}

const numbers = [
  ["temperature", "temperature"],
  ["topK", "top_k"],
  ["topP", "top_p"],
  ["minP", "min_p"],
  ["repetitionPenalty", "repetition_penalty"],
  ["bosId", "bos_token_id"],
  ["padId", "pad_token_id"],
] as const;

/**
 * Reads the contents of a `generation_config.json`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { parseGenerationConfig } from "arpo-lab/experimental/formats";
 *
 * const config = parseGenerationConfig({ eos_token_id: 7, top_p: 0.8 });
 * assert.deepEqual(config, { eosIds: [7], topP: 0.8 });
 * ```
 */
export function parseGenerationConfig(json: Record<string, unknown>): GenerationConfig {
  checkArguments("read a generation config", { json }, { json: "object" });
  const eos = json.eos_token_id ?? [];
  const config: GenerationConfig = { eosIds: (Array.isArray(eos) ? eos : [eos]) as number[] };
  for (const [key, name] of numbers) {
    const value = json[name];
    if (value == null) continue;
    if (typeof value !== "number") {
      throw new RangeError(
        `Cannot read generation_config.json: ${name} must be a number, got ${JSON.stringify(value)}`,
      );
    }
    config[key] = value;
  }
  for (const id of config.eosIds) {
    if (!Number.isSafeInteger(id)) {
      throw new RangeError(
        `Cannot read generation_config.json: eos_token_id must be a token id or a list of them, got ${JSON.stringify(eos)}`,
      );
    }
  }
  return config;
}

/**
 * The contents of a `generation_config.json`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { formatGenerationConfig } from "arpo-lab/experimental/formats";
 *
 * assert.deepEqual(formatGenerationConfig({ eosIds: [7], topK: 20 }), { eos_token_id: 7, top_k: 20 });
 * ```
 */
export function formatGenerationConfig(config: GenerationConfig): Record<string, unknown> {
  checkArguments("write a generation config", { config }, { config: { eosIds: "list" } });
  const json: Record<string, unknown> = {};
  if (config.eosIds.length > 0) {
    json.eos_token_id = config.eosIds.length > 1 ? config.eosIds : config.eosIds[0];
  }
  for (const [key, name] of numbers) if (config[key] !== undefined) json[name] = config[key];
  return json;
}
