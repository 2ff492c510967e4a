/** Opcodes that exist and are not run: what they would do is not needed to describe tensors. */
export const refusedOpcodes: Readonly<Record<number, string>> = {
  0x46: "FLOAT",
  0x49: "INT",
  0x4c: "LONG",
  0x50: "PERSID",
  0x53: "STRING",
  0x56: "UNICODE",
  0x64: "DICT",
  0x67: "GET",
  0x69: "INST",
  0x6c: "LIST",
  0x6f: "OBJ",
  0x70: "PUT",
  0x82: "EXT1",
  0x83: "EXT2",
  0x84: "EXT4",
  0x97: "NEXT_BUFFER",
  0x98: "READONLY_BUFFER",
};

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
