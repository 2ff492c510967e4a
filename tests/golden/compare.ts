/** What a golden-case file may ask for in its `precision` text; the strictest reading is the default. */
export interface Tolerance {
  relative: number;
  absolute: number;
}

const special: Record<string, number> = {
  NaN,
  Infinity,
  "-Infinity": -Infinity,
};

/**
 * Compares what the code gave with what a golden-case file expects: every expected key and element must
 * be there and equal; numbers within the tolerance. Returns the first difference, or undefined.
 */
export function difference(
  actual: unknown,
  expected: unknown,
  tolerance: Tolerance,
  path = "",
): string | undefined {
  const say = (why: string) => `${path || "result"}: ${why}`;
  const wanted =
    typeof actual === "number" && typeof expected === "string" && expected in special
      ? special[expected]
      : expected;
  if (typeof wanted === "number" || typeof wanted === "bigint") {
    if (typeof actual !== "number") return say(`expected ${wanted}, got ${JSON.stringify(actual)}`);
    const want = Number(wanted);
    if (Object.is(actual, want) || actual === want) return undefined;
    const allowed = tolerance.absolute + tolerance.relative * Math.abs(want);
    return Math.abs(actual - want) <= allowed ? undefined : say(`expected ${want}, got ${actual}`);
  }
  if (Array.isArray(wanted)) {
    const list = ArrayBuffer.isView(actual) ? [...(actual as Float64Array)] : actual;
    if (!Array.isArray(list)) return say(`expected a list, got ${JSON.stringify(actual)}`);
    if (list.length !== wanted.length)
      return say(`expected ${wanted.length} elements, got ${list.length}`);
    for (let i = 0; i < wanted.length; i++) {
      const found = difference(list[i], wanted[i], tolerance, `${path}[${i}]`);
      if (found) return found;
    }
    return undefined;
  }
  if (wanted !== null && typeof wanted === "object") {
    if (actual === null || typeof actual !== "object")
      return say(`expected an object, got ${JSON.stringify(actual)}`);
    for (const [key, value] of Object.entries(wanted)) {
      const found = difference(
        (actual as Record<string, unknown>)[key],
        value,
        tolerance,
        path ? `${path}.${key}` : key,
      );
      if (found) return found;
    }
    return undefined;
  }
  return actual === wanted
    ? undefined
    : say(`expected ${JSON.stringify(wanted)}, got ${JSON.stringify(actual)}`);
}
