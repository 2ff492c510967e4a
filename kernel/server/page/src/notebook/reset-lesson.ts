import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Dialog, ICommandPalette, showDialog, showErrorMessage } from "@jupyterlab/apputils";
import { PageConfig, PathExt } from "@jupyterlab/coreutils";
import { IMainMenu } from "@jupyterlab/mainmenu";
import { INotebookTracker } from "@jupyterlab/notebook";
import { folder } from "./lessons.js";

/** Where the server has the lessons as they were shipped; empty where a person edits these. */
const shipped = PageConfig.getOption("shippedLessons");

/** Brings a lesson back as it was shipped, where the lab opens copies of the lessons. */
export const resetLesson: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:reset-lesson",
  autoStart: true,
  requires: [INotebookTracker],
  optional: [IMainMenu, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    menu: IMainMenu | null,
    palette: ICommandPalette | null,
  ) => {
    if (shipped === "") return;
    const { contents } = app.serviceManager;
    const command = "arpo-lab:reset-lesson";
    const label = "Reset This Lesson…";
    app.commands.addCommand(command, {
      label,
      caption: "Bring this lesson back as it was shipped",
      isEnabled: () => PathExt.dirname(notebooks.currentWidget?.context.path ?? "") === folder,
      execute: async () => {
        const { context } = notebooks.currentWidget!;
        const name = PathExt.basename(context.path);
        try {
          // As text, so that the copy has the shipped file's bytes.
          const as = { type: "file", format: "text" } as const;
          const lesson = await contents.get(`${shipped}/${name}`, { ...as, content: true });
          const { button } = await showDialog({
            title: "Reset this lesson?",
            body:
              `${name} is replaced by the lesson as it was shipped. What you have now is its checkpoint: ` +
              "File > Revert Notebook to Checkpoint brings it back, until you save. The kernel keeps its values.",
            buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: "Reset" })],
          });
          if (!button.accept) return;
          await context.save();
          await context.createCheckpoint();
          await contents.save(context.path, { ...as, content: lesson.content as string });
          await context.revert();
        } catch (error) {
          await showErrorMessage(`${name} cannot be reset`, error as Error);
        }
      },
    });
    palette?.addItem({ command, category: "File Operations" });
    menu?.fileMenu.addGroup([{ command }], 40);
  },
};
