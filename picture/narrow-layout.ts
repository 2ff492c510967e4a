/**
 * A plotly layout for a place as narrow as a phone: the legend below instead of beside, titles in several lines.
 * It also runs in pages from its own text: it uses nothing from outside and names no function inside.
 */
export function narrowLayout(
  layout: Record<string, unknown>,
  width: number,
): Record<string, unknown> {
  if (width === 0 || width >= 520) return layout;
  const axis = { ...(layout["xaxis"] as Record<string, unknown>) };
  const narrow: Record<string, unknown> = { ...layout, xaxis: axis };
  const heights: number[] = [];
  for (const [owner, size] of [
    [narrow, 15],
    [axis, 13],
  ] as const) {
    const title = owner["title"];
    const given = typeof title === "object" ? { ...title } : { text: title };
    const { text } = given as { text?: unknown };
    const lines: string[] = [""];
    for (const word of typeof text === "string" ? text.split(" ") : []) {
      const last = lines.at(-1)!;
      if (last === "") lines[lines.length - 1] = word;
      else if ((last.length + 1 + word.length) * size * 0.56 > width) lines.push(word);
      else lines[lines.length - 1] = `${last} ${word}`;
    }
    if (lines[0] !== "") owner["title"] = { font: { size }, ...given, text: lines.join("<br>") };
    heights.push(lines.length * size * 1.3);
  }
  const [above, below] = heights as [number, number];
  if (axis["title"] !== undefined) {
    axis["title"] = { standoff: 8, ...(axis["title"] as object) };
    axis["automargin"] = true;
  }
  narrow["margin"] = {
    t: 30 + above,
    r: 12,
    b: 40 + below,
    l: 50,
    ...(layout["margin"] as object),
  };
  narrow["legend"] = {
    ...{ orientation: "h", x: 0, yref: "container", y: 0, yanchor: "bottom" },
    ...(layout["legend"] as object),
  };
  return narrow;
}
