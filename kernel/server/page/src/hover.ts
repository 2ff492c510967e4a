import { hoverTooltip, type Tooltip } from "@codemirror/view";
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { EditorExtensionRegistry, IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { INotebookTracker } from "@jupyterlab/notebook";

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
