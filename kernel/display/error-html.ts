import { errorText } from "./error-text.js";
import { escapeHtml } from "./html.js";

/** An error as HTML: name and message, the rest under a fold. */
export function errorHtml(error: Error): string {
  const [, ...rest] = errorText(error).split(`${error.name}: ${error.message}`);
  const below = rest.join(`${error.name}: ${error.message}`).replace(/^\n/, "");
  const head = `<b style="color:#d33">${escapeHtml(error.name)}</b>: ${escapeHtml(error.message)}`;
  if (below === "") return `<div>${head}</div>`;
  return `<details><summary>${head}</summary><pre>${escapeHtml(below)}</pre></details>`;
}
