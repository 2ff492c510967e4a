import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import { NotebookPanel } from "@jupyterlab/notebook";

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
