/** How a value of a pickle is told in an error: in a few words, however large or deep it is. */
export function tellPickled(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "None";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 60));
  if (typeof value !== "object") return String(value).slice(0, 60);
  if (Array.isArray(value))
    return `a ${Object.isFrozen(value) ? "tuple" : "list"} of ${value.length}`;
  if (value instanceof Map) return `a dict of ${value.size}`;
  if (value instanceof Set) return `a set of ${value.size}`;
  if ("name" in value && typeof value.name === "string") return value.name;
  if ("type" in value && typeof value.type === "string") return `a ${value.type}`;
  return `a ${value.constructor.name}`;
}
