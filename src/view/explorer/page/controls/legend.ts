import { element } from "../../../page/element.js";
import { legendEntries } from "../draw/draw-legend.js";
import { svgPainter } from "../../../draw/svg-painter.js";

/** The legend below the tree. */
export function tellLegend(view: Parameters<typeof legendEntries>[0], legend: HTMLElement): void {
  legend.replaceChildren(
    ...legendEntries(view).map(({ name, width, draw, isScale }) => {
      const height = isScale ? 38 : 16;
      const painter = svgPainter();
      draw(painter, 0, isScale ? 15 : 8);
      const picture = element("span", { class: "ax-picture", "aria-hidden": "true" });
      // What the painter wrote: names and numbers of this program, no text of the tree.
      picture.innerHTML = `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${painter.parts.join("")}</svg>`;
      return isScale
        ? element("span", { class: "ax-entry" }, name, picture)
        : element("span", { class: "ax-entry" }, picture, name);
    }),
  );
}
