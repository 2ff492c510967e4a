import { EditorView } from "@codemirror/view";
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { EditorExtensionRegistry, IEditorExtensionRegistry } from "@jupyterlab/codemirror";

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
