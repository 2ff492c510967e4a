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

/** Reads the contents of a `generation_config.json`. */
export function parseGenerationConfig(json: Record<string, unknown>): GenerationConfig {
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

/** The contents of a `generation_config.json`. */
export function formatGenerationConfig(config: GenerationConfig): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  if (config.eosIds.length > 0) {
    json.eos_token_id = config.eosIds.length > 1 ? config.eosIds : config.eosIds[0];
  }
  for (const [key, name] of numbers) if (config[key] !== undefined) json[name] = config[key];
  return json;
}
