import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { PageConfig } from "@jupyterlab/coreutils";
import { ILauncher } from "@jupyterlab/launcher";
import type { INotebookContent } from "@jupyterlab/nbformat";
import { LabIcon, notebookIcon } from "@jupyterlab/ui-components";
import { lessonPicture } from "./lesson-pictures.js";
import { site } from "../site.js";

const command = "arpo-lab:open-lesson";
/** Where lessons are, here and in the lab's list of files. */
export const folder = PageConfig.getOption("lessons") || "notebooks";

interface Lesson {
  path: string;
  title: string;
  about: string;
}

/** `00-first-steps.ipynb` as a title. */
function titleOf(name: string): string {
  const words = name
    .replace(/\.ipynb$/, "")
    .replace(/^\d+-/, "")
    .replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What stands on a lesson's card. */
function iconOf(path: string): LabIcon {
  const name = path.slice(folder.length + 1);
  const svgstr = lessonPicture(name);
  return svgstr === undefined ? notebookIcon : new LabIcon({ name: `arpo-lab:${name}`, svgstr });
}

/** What a lesson's first cell says: its heading, and the paragraph below. */
function describe(path: string, text: string): Lesson {
  const [, heading, rest = ""] = /^# +(.+)\n*([\s\S]*)$/.exec(text) ?? [];
  const about = rest
    .split(/\n\s*\n/)[0]!
    .replace(/[*_`]/g, "")
    .replace(/\s+/g, " ");
  return { path, title: heading ?? titleOf(path.slice(folder.length + 1)), about };
}

/** Puts the lessons, where there are some, first on the launcher. */
export const lessons: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:lessons",
  autoStart: true,
  requires: [ILauncher],
  optional: [ILabShell],
  activate: (app: JupyterFrontEnd, launcher: ILauncher, shell: ILabShell | null) => {
    app.commands.addCommand(command, {
      label: ({ title }) => (title === undefined ? "Open a lesson" : String(title)),
      caption: ({ about }) => (about === undefined ? "Open this lesson" : String(about)),
      icon: ({ path }) => iconOf(String(path)),
      execute: async ({ path }) => await app.commands.execute("docmanager:open", { path }),
    });
    const { contents } = app.serviceManager;
    const names = async (path: string): Promise<string[]> => {
      const { content } = (await contents.get(path)) as { content: { name: string }[] };
      return content.map(({ name }) => name);
    };
    const read = async (path: string): Promise<Lesson> => {
      const known = site?.lessons[path];
      if (known !== undefined) return describe(path, known);
      try {
        const { content } = await contents.get(path, { type: "notebook", content: true });
        const source = (content as INotebookContent).cells[0]?.source ?? "";
        return describe(path, typeof source === "string" ? source : source.join(""));
      } catch {
        // One that cannot be read says why when it is opened.
        return { path, title: titleOf(path.slice(folder.length + 1)), about: "Open this lesson" };
      }
    };
    const add = async (): Promise<void> => {
      if (!(await names("")).includes(folder)) return;
      const found = (await names(folder)).filter((name) => name.endsWith(".ipynb")).sort();
      const told = await Promise.all(found.map((name) => read(`${folder}/${name}`)));
      told.forEach((lesson, rank) => {
        const args = { ...lesson };
        launcher.add({ command, args, category: "Lessons", rank, categoryRank: -1 });
      });
    };
    // The page comes first.
    void (shell?.restored ?? app.restored).then(add);
  },
};
