import { escapeHtml } from "../../../common/picture/escape.js";

/** What stands above a view: its title or question, and beside it what is counted. */
export function header(title: string, about = "", name = "arpo-title"): string {
  const words = about === "" ? "" : `<span class="arpo-muted">${escapeHtml(about)}</span>`;
  return `<div class="${name}"><b>${escapeHtml(title)}</b>${words}</div>`;
}
