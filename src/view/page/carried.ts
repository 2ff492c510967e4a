import { element } from "./element.js";

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
