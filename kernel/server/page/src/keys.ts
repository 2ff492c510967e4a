// A key that is pressed in a control of an output, a slider of a view say, is that control's: JupyterLab
// would take an arrow for a command and collapse the section of the notebook.

const controls = "input, select, textarea, button, summary, a[href], [tabindex], [contenteditable]";

/** Keys that lead out of a control, or are nobody's. */
const others = /^(Escape|Tab|F\d+|Shift|Control|Alt|Meta)$/;

function belongsToControl(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (ctrlKey || metaKey || altKey || others.test(key)) return false;
  if (shiftKey && key === "Enter") return false; // runs the cell
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  const control = target.closest(controls);
  // In a shadow the output is beyond what `closest` sees.
  const outer = event.target instanceof Element ? event.target : target;
  const output = outer.closest(".jp-OutputArea-output");
  return output !== null && control !== null && !control.contains(output);
}

/** JupyterLab listens at the document, above the body. */
export function keepKeysInControls(): void {
  document.body.addEventListener("keydown", (event) => {
    if (belongsToControl(event)) event.stopPropagation();
  });
}
