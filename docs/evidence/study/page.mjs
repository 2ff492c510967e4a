// Tables of a page.
export const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

/** A page with its tables in their places: between `<!-- NAME -->` and `<!-- /NAME -->`. */
export function withTables(page, found) {
  return Object.entries(found).reduce((text, [name, rows]) => {
    const place = new RegExp(`(<!-- ${name} -->\n)[^]*?(\n<!-- /${name} -->)`);
    if (!place.test(text))
      throw new Error(
        `Cannot write the evidence: the page must have a place for ${name}, got none`,
      );
    return text.replace(place, (_, open, close) => `${open}\n${rows}\n${close}`);
  }, page);
}
