import temml from "temml";
import { escapeHtml } from "../../display/html.js";

/** TeX as MathML, which browsers draw without fonts or programs; what is no TeX stays readable. */
export function mathHtml(tex: string, display: boolean): string {
  try {
    return temml.renderToString(tex, { displayMode: display, throwOnError: true, trust: false });
  } catch {
    // A formula that Temml does not know is shown as it was written.
    const shown = `<code>${escapeHtml(display ? `$$${tex}$$` : `$${tex}$`)}</code>`;
    return display ? `<p>${shown}</p>` : shown;
  }
}
