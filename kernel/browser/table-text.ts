/** Rows and columns as `console.table` draws them; undefined of what has none. */
export function tableText(
  data: unknown,
  columns: readonly string[] | undefined,
  text: (value: unknown) => string,
): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const rows: [string, unknown][] =
    data instanceof Map
      ? [...data.entries()].map(([key, value]) => [text(key), value])
      : Object.entries(data);
  const isRecord = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null;
  const names = columns ?? [
    ...new Set(rows.flatMap(([, row]) => (isRecord(row) ? Object.keys(row) : []))),
  ];
  const plain = rows.some(([, row]) => !isRecord(row));
  const head = ["(index)", ...names, ...(plain ? ["Values"] : [])];
  const body = rows.map(([key, row]) => [
    key,
    ...names.map((name) => (isRecord(row) && name in row ? text(row[name]) : "")),
    ...(plain ? [isRecord(row) ? "" : text(row)] : []),
  ]);
  const widths = head.map((name, i) => Math.max(name.length, ...body.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]) =>
    `│ ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" │ ")} │`;
  const rule = (left: string, cross: string, right: string) =>
    left + widths.map((width) => "─".repeat(width + 2)).join(cross) + right;
  return [
    rule("┌", "┬", "┐"),
    line(head),
    rule("├", "┼", "┤"),
    ...body.map(line),
    rule("└", "┴", "┘"),
  ].join("\n");
}
