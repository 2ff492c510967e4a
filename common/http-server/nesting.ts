/** JSON of people is less deep; what walks through a value would overflow its stack at some thousands. */
export const deepest = 500;

/** Whether a JSON value has lists or objects within each other, more than so many. */
export function isTooDeep(value: unknown, most = deepest): boolean {
  let level = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > most) return true;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const inner of Object.values(item) as unknown[]) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return false;
}
