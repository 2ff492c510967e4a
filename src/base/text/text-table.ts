/** Rows under one another: the first column on the left, the others on the right or all on the left. */
export function textTable(
  rows: readonly (readonly string[])[],
  align: "left" | "right" = "right",
): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) =>
          i === 0 || align === "left" ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
