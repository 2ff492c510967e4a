/** What a cell of a table can hold. */
export type Cell = number | string | boolean;

/** An object as one row: what is inside objects gets dotted names, lists become JSON. */
export function flatten(value: object, prefix = ""): Record<string, Cell> {
  const out: Record<string, Cell> = {};
  for (const [key, inside] of Object.entries(value) as [string, unknown][]) {
    const name = `${prefix}${key}`;
    if (inside === undefined || inside === null) continue;
    if (typeof inside === "bigint") out[name] = Number(inside);
    else if (["number", "string", "boolean"].includes(typeof inside)) out[name] = inside as Cell;
    else if (inside instanceof Date) out[name] = inside.toISOString();
    else if (ArrayBuffer.isView(inside)) {
      out[name] = JSON.stringify([...(inside as Float32Array)]);
    } else if (Array.isArray(inside)) out[name] = JSON.stringify(inside);
    else if (typeof inside === "object") Object.assign(out, flatten(inside, `${name}.`));
  }
  return out;
}
