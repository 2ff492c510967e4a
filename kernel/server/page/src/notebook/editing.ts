import { EditorView, hoverTooltip, type Tooltip } from "@codemirror/view";
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { EditorExtensionRegistry, IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";

/** Gives editors a name that is read out; JupyterLab's have none. */
export const editors: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:editors",
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  activate: (_app: JupyterFrontEnd, registry: IEditorExtensionRegistry) => {
    const named = EditorView.contentAttributes.of({ "aria-label": "Editor" });
    registry.addExtension({
      name: "arpo-lab:name",
      factory: () => EditorExtensionRegistry.createImmutableExtension(named),
    });
  },
};

interface Language {
  name: string;
}

interface Panel {
  model: { getMetadata(key: string): Language | undefined } | null;
  _updateLanguage(language: Language): void;
}

/**
 * Opening a notebook is not changing it: what a kernel says of its language, such as Node's version on
 * this machine, is written into the file only where that names another language or none.
 */
export const language: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:language",
  autoStart: true,
  activate: () => {
    const panel = NotebookPanel.prototype as unknown as Panel;
    const update = panel._updateLanguage;
    panel._updateLanguage = function (this: Panel, told: Language): void {
      if (this.model?.getMetadata("language_info")?.name !== told.name) update.call(this, told);
    };
  },
};

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

/** What stands in a text before a place, in characters as Jupyter counts them. */
const characters = (text: string): number => Array.from(text).length;

/** What the kernel says of a name, without colours and what follows the first blank line. */
function firstPart(data: Record<string, unknown>): string | undefined {
  const text = data["text/plain"];
  if (typeof text !== "string") return undefined;
  return text.replace(/\u001b\[[\d;]*m/g, "").slice(0, 1500);
}

/** Shows the type and documentation of a name under the pointer, as the kernel knows them. */
export const hover: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:hover",
  autoStart: true,
  requires: [IEditorExtensionRegistry, INotebookTracker],
  activate: (
    _app: JupyterFrontEnd,
    registry: IEditorExtensionRegistry,
    notebooks: INotebookTracker,
  ) => {
    const tooltip = hoverTooltip(
      async (view, pos): Promise<Tooltip | null> => {
        const word = view.state.wordAt(pos);
        const panel = notebooks.find(({ node }) => node.contains(view.dom));
        const kernel = panel?.sessionContext.session?.kernel;
        const inCode = view.dom.closest(".jp-CodeCell") !== null;
        if (!word || !kernel || !inCode) return null;
        const code = view.state.doc.toString();
        const { content } = await kernel.requestInspect({
          ...{ code, cursor_pos: characters(code.slice(0, word.to)), detail_level: 0 },
        });
        const text = content.status === "ok" && content.found && firstPart(content.data);
        if (!text) return null;
        return {
          ...{ pos: word.from, end: word.to, above: true },
          create: () => {
            const dom = document.createElement("pre");
            dom.className = "arpo-Hover";
            dom.tabIndex = 0; // it scrolls where it is long
            dom.textContent = text;
            return { dom };
          },
        };
      },
      { hoverTime: 400 },
    );
    registry.addExtension({
      name: "arpo-lab:hover",
      factory: () => EditorExtensionRegistry.createImmutableExtension(tooltip),
    });
  },
};
