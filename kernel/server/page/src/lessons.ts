import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ILauncher } from "@jupyterlab/launcher";
import { notebookIcon } from "@jupyterlab/ui-components";

const command = "arpo-lab:open-lesson";
const folder = "notebooks";

/** `00-first-steps.ipynb` as a title. */
function titleOf(name: string): string {
  const words = name
    .replace(/\.ipynb$/, "")
    .replace(/^\d+-/, "")
    .replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Puts the lessons of the folder `notebooks`, where there is one, on the launcher. */
export const lessons: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:lessons",
  autoStart: true,
  requires: [ILauncher],
  activate: async (app: JupyterFrontEnd, launcher: ILauncher) => {
    app.commands.addCommand(command, {
      label: ({ path }) =>
        path === undefined ? "Open a lesson" : titleOf(String(path).slice(folder.length + 1)),
      caption: "Open this lesson",
      icon: notebookIcon,
      execute: async ({ path }) => await app.commands.execute("docmanager:open", { path }),
    });
    const { contents } = app.serviceManager;
    const names = async (path: string): Promise<string[]> => {
      const { content } = (await contents.get(path)) as { content: { name: string }[] };
      return content.map(({ name }) => name);
    };
    if (!(await names("")).includes(folder)) return;
    const notebooks = (await names(folder)).filter((name) => name.endsWith(".ipynb"));
    notebooks.forEach((name, rank) => {
      launcher.add({ command, args: { path: `${folder}/${name}` }, category: "Lessons", rank });
    });
  },
};
