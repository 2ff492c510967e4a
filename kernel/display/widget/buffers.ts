/** Where a buffer belongs in a state: keys and indices from its top. */
export type BufferPath = (string | number)[];

/** A state without its binary parts, and those parts with their places. */
export interface SplitState {
  state: Record<string, unknown>;
  paths: BufferPath[];
  buffers: Uint8Array[];
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Takes the binary parts out of a state, as the widget protocol sends them: beside it, with paths. */
export function splitBuffers(state: Record<string, unknown>): SplitState {
  const paths: BufferPath[] = [];
  const buffers: Uint8Array[] = [];
  const walk = (value: unknown, path: BufferPath): unknown => {
    const bytes = bytesOf(value);
    if (bytes !== undefined) {
      paths.push(path);
      buffers.push(bytes);
      return undefined;
    }
    // In a list the place must stay; in an object the key goes.
    if (Array.isArray(value)) return value.map((item, i) => walk(item, [...path, i]) ?? null);
    if (!isPlain(value)) return value;
    const entries = Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]);
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
  };
  return { state: walk(state, []) as Record<string, unknown>, paths, buffers };
}

/** Puts binary parts back where their paths say; a path that leads nowhere is an error. */
export function joinBuffers(
  state: Record<string, unknown>,
  paths: BufferPath[],
  buffers: Uint8Array[],
): Record<string, unknown> {
  paths.forEach((path, i) => {
    let place: unknown = state;
    for (const key of path.slice(0, -1)) {
      // Own properties only: a path from a page must not reach into prototypes.
      place =
        typeof place === "object" && place !== null && Object.hasOwn(place, key)
          ? (place as Record<string, unknown>)[key]
          : undefined;
    }
    const last = path.at(-1);
    if (typeof place !== "object" || place === null || last === undefined || last === "__proto__") {
      throw new RangeError(
        `Cannot place buffer: its path must lead into the state, got ${JSON.stringify(path)}`,
      );
    }
    (place as Record<string | number, unknown>)[last] = buffers[i];
  });
  return state;
}
