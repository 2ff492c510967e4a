/** An element of SVG with attributes and children. */
export function svgElement(
  name: string,
  attributes: Record<string, string | number> = {},
  ...children: Node[]
): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}
