/** A plotly figure, by its shape: traces and a layout. */
export interface FigureLike {
  data: Record<string, unknown>[];
  layout: Record<string, unknown>;
  config?: Record<string, unknown>;
  frames?: unknown[];
}

/** A title, as text or as `{ text }`. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const { text } = (value ?? {}) as { text?: unknown };
  return typeof text === "string" ? text : "";
}
