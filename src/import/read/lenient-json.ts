const words = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

/** A line of JSON as Python writes it: NaN and the infinities, for which JSON has no words, become null. */
export function parseLenient(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!/\bNaN\b|\bInfinity\b/.test(text)) throw error;
    const fixed = text.replace(words, (found) => (found.startsWith('"') ? found : "null"));
    return JSON.parse(fixed) as unknown;
  }
}
