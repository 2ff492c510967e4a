import type { ConfigKeys } from "../config-keys.js";
import type { LayerKinds, LayerSizes } from "./definition.js";

const kinds = ["full_attention", "sliding_attention"];

/** Which layers have a window, by `layer_types`; undefined where config.json has no such key. */
export function windowedByType(keys: ConfigKeys, layers: number): boolean[] | undefined {
  if (!keys.has("layer_types")) return undefined;
  const types = keys.texts("layer_types");
  const other = types.findIndex((type) => !kinds.includes(type));
  if (other >= 0) {
    keys.refuse(`layer_types must be among ${kinds.join(", ")}`, types[other], ` (layer ${other})`);
  }
  if (!types.includes("sliding_attention")) return Array.from({ length: layers }, () => false);
  if (types.length !== layers) {
    keys.refuse(`layer_types must have an entry for each of ${layers} layers`, types.length);
  }
  return types.map((type) => type === "sliding_attention");
}

/** A window that leaves nothing out, or that no layer has, is none. */
export function withWindow(
  window: number,
  windowed: readonly boolean[],
  { contextLength }: LayerSizes,
): LayerKinds {
  return window < contextLength && windowed.includes(true) ? { window, windowed } : {};
}

/** What `use_sliding_window`, `sliding_window`, `max_window_layers` and `layer_types` say, as Qwen has them. */
export function readWindows(keys: ConfigKeys, sizes: LayerSizes): LayerKinds {
  const types = windowedByType(keys, sizes.layers);
  if (!keys.flag("use_sliding_window") || !keys.has("sliding_window")) return {};
  const first = keys.number("max_window_layers", 28);
  const windowed = types ?? Array.from({ length: sizes.layers }, (_, i) => i >= first);
  return withWindow(keys.number("sliding_window"), windowed, sizes);
}

/** The keys that `readWindows` reads. */
export function writeWindows(
  { window, windowed = [] }: LayerKinds,
  { layers }: LayerSizes,
): Record<string, unknown> {
  if (window === undefined) return {};
  const types = Array.from({ length: layers }, (_, i) => kinds[Number(windowed[i] ?? false)]!);
  const first = types.indexOf("sliding_attention");
  return {
    use_sliding_window: true,
    sliding_window: window,
    max_window_layers: first < 0 ? layers : first,
    layer_types: types,
  };
}
