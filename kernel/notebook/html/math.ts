import temml from "temml";
import { escapeHtml } from "../../display/html.js";

/** Longer formulas are shown as they were written: Temml takes time with the square of their length. */
const longest = 5000;

/** TeX as MathML, which browsers draw without fonts or programs; what is no TeX stays readable. */
export function mathHtml(tex: string, display: boolean): string {
  try {
    if (tex.length > longest) throw new RangeError(`TeX must have at most ${longest} characters`);
    return temml.renderToString(tex, { displayMode: display, throwOnError: true, trust: false });
  } catch {
    // A formula that Temml does not know is shown as it was written.
    const shown = `<code>${escapeHtml(display ? `$$${tex}$$` : `$${tex}$`)}</code>`;
    return display ? `<p>${shown}</p>` : shown;
  }
}
