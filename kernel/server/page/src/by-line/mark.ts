import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import type { Cell } from "@jupyterlab/cells";
import type { CodeMirrorEditor } from "@jupyterlab/codemirror";

/** Where the line begins. */
const setLine = StateEffect.define<number | undefined>();
const attributes = { "aria-current": "step" };
const decoration = Decoration.line({ class: "arpo-ByLine-line", attributes });

/** The line that runs next, in an editor. */
export const lineMark = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { changes, effects }) => {
    const set = effects.findLast((effect) => effect.is(setLine));
    if (set === undefined) return marks.map(changes);
    return set.value === undefined
      ? Decoration.none
      : Decoration.set([decoration.range(set.value as number)]);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Marks a line of a cell, counted from 1; undefined takes the mark away. */
export function markLine(cell: Cell, line: number | undefined): void {
  const view = (cell.editor as CodeMirrorEditor | null)?.editor;
  if (view === undefined) return;
  const { doc } = view.state;
  // Who edits a cell while it runs may have taken the line away.
  const from = line === undefined || line > doc.lines ? undefined : doc.line(line).from;
  const scrolling = from === undefined ? [] : [EditorView.scrollIntoView(from)];
  view.dispatch({ effects: [setLine.of(from), ...scrolling] });
}
