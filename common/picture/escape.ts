// No file of XML may hold them, and no page shows them.
const unwritable = /[\p{Cs}\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu;

/** Text as HTML or SVG that shows it; � for characters that neither may hold. */
export function escapeHtml(text: string): string {
  return text.replace(unwritable, "\ufffd").replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
