/** A value in a sentence: short numbers, lists in brackets, long ones cut. */
export function formatValue(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(5)));
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const items = Array.from(value as ArrayLike<unknown>);
    const shown = items.slice(0, 8).map((item) => formatValue(item));
    return `[${shown.join(", ")}${items.length > 8 ? ", …" : ""}]`;
  }
  if (typeof value === "object" && value !== null) {
    const text = JSON.stringify(value) ?? "an object";
    return text.length > 90 ? `${text.slice(0, 89)}…` : text;
  }
  return String(value);
}
