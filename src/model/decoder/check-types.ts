import { note } from "#platform/note";
import { cacheTypes, type CacheType, decoderTypes, type DecoderType } from "./weights.js";

/** Throws unless types are among those that there are. */
export function checkTypes(action: string, dtype: DecoderType, cache: CacheType): void {
  const refuse = (name: string, known: readonly string[], got: unknown): never => {
    throw new RangeError(
      `Cannot ${action}: ${name} must be one of ${known.join(", ")}, got ${JSON.stringify(got)}`,
    );
  };
  if (!decoderTypes.includes(dtype)) refuse("dtype", decoderTypes, dtype);
  if (!cacheTypes.includes(cache)) refuse("cache", cacheTypes, cache);
}

/** Says that keys and values stay as they are on a GPU. */
export function noteWholeCache(cache: CacheType): void {
  if (cache === "float32") return;
  note("arpo-lab: keys and values are kept in float32: a GPU's decoder does not round them");
}
