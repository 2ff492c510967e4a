/**
 * What a model or a tool wrote, as a terminal may be given it: what would move its cursor, change its
 * colours or turn the direction of its text is shown and not obeyed. Line ends and tabs stay.
 */
export function printable(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, shown);
}

function shown(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
}
