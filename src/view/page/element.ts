type Child = Node | string | undefined;

/** An element with attributes and children; text is never read as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

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

/** The element that HTML stands for; its texts have been escaped by whoever made it. */
export function fromHtml(html: string): HTMLElement {
  const holder = element("template");
  holder.innerHTML = html;
  return holder.content.firstElementChild as HTMLElement;
}

/** The data that a view carries under a name; undefined where it carries none. */
export function carried<T>(root: Element | null | undefined, name: string): T | undefined {
  const text = root?.querySelector(`script[data-${name}]`)?.textContent;
  return text == null ? undefined : (JSON.parse(text) as T);
}

/** An element that carries data, as JSON, for a view inside another. */
export function carrier(name: string, json: string): HTMLElement {
  const script = element("script", { type: "application/json", [`data-${name}`]: "" });
  script.textContent = json;
  return script;
}
