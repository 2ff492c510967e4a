type Layout = Record<string, unknown>;

/**
 * A plotly layout for a place as narrow as a phone: the legend below instead of beside, titles in up to four lines.
 * It also runs in pages from its own text: it uses nothing from outside and names no function inside.
 */
export function narrowLayout(layout: Layout, width: number): Layout {
  if (width === 0 || width >= 520) return layout;
  const axis = { ...(layout["xaxis"] as Layout) };
  const [title, below] = [
    { given: layout["title"], size: 15 },
    { given: axis["title"], size: 13 },
  ].map(({ given, size }) => {
    const title: Layout = typeof given === "object" ? { ...given } : { text: given };
    const most = Math.floor(width / (0.56 * size)) - 1;
    const words = typeof title["text"] === "string" ? title["text"] : "";
    const lines = words.match(new RegExp(`\\S.{0,${most}}(?=\\s|$)|\\S+`, "g"))?.slice(0, 4) ?? [];
    return {
      title: { font: { size }, ...title, text: lines.join("<br>") },
      height: lines.length * size * 1.3,
    };
  });
  return {
    ...layout,
    title: title!.title,
    xaxis: { automargin: true, ...axis, title: { standoff: 8, ...below!.title } },
    margin: {
      t: 30 + title!.height,
      r: 12,
      b: 40 + below!.height,
      l: 50,
      ...(layout["margin"] as Layout),
    },
    legend: {
      ...{ orientation: "h", x: 0, yref: "container", y: 0, yanchor: "bottom" },
      ...(layout["legend"] as Layout),
    },
  };
}
