// The lab's page as tests and benchmarks drive it: through JupyterLab's own commands.
import type { BrowserContext, Page } from "playwright-core";
import { until } from "../until.js";
import type { Driven } from "./browsers/driven.js";

export interface Notebook {
  cells: { cell_type: string; source: string; outputs?: object[] }[];
}
/** What the page has of JupyterLab. */
export interface Lab {
  jupyterapp: {
    restored: Promise<unknown>;
    commands: { execute(name: string, args?: object): Promise<unknown> };
    shell: {
      currentWidget: {
        context: { path: string; ready: Promise<void>; save(): Promise<void> };
        content: {
          activeCellIndex: number;
          model: {
            cells: { get(at: number): { sharedModel: { setSource(text: string): void } } };
            toJSON(): Notebook;
          };
        };
      };
    };
  };
}

/** How long something may take on a machine that has much else to do. */
export const patience = Number(process.env["ARPO_LAB_TAB_PATIENCE"] ?? 60_000);

/** Asks a page until it says yes: what is loaded again meanwhile is asked again. */
export const untilPage = <A>(of: Driven, is: (given: A) => boolean, given: A, limit: number) =>
  until(() => of.evaluate(is, given).catch(() => false), `${is.toString()} of ${given}`, limit);

/** Waits until a page shows a notebook, with what is in its file. */
export async function ready(opened: Driven): Promise<void> {
  const isThere = (): boolean => {
    const lab = (globalThis as unknown as Partial<Lab>).jupyterapp;
    return lab?.shell.currentWidget?.content?.model?.cells !== undefined;
  };
  await untilPage(opened, isThere, undefined, 3 * patience);
  await opened.evaluate(
    () => (globalThis as unknown as Lab).jupyterapp.shell.currentWidget.context.ready,
    undefined,
  );
}

/** A page of the lab that shows a notebook; faults that nobody caught go to `errors`. */
export async function openLab(
  context: BrowserContext,
  address: string,
  errors: string[] = [],
): Promise<Page> {
  const opened = await context.newPage();
  opened.on("pageerror", (error) => errors.push(error.message));
  await opened.goto(address);
  await ready(opened);
  return opened;
}

/** Calls one of JupyterLab's commands. */
export const command = (of: Driven, name: string): Promise<unknown> =>
  of.evaluate((asked) => (globalThis as unknown as Lab).jupyterapp.commands.execute(asked), name);

/** A new notebook; its path. */
export const newNotebook = (of: Driven): Promise<string> =>
  of.evaluate(async () => {
    const { commands, shell } = (globalThis as unknown as Lab).jupyterapp;
    await commands.execute("notebook:create-new", { kernelName: "arpo-lab" });
    await shell.currentWidget.context.ready;
    return shell.currentWidget.context.path;
  }, undefined);

/** Writes a cell and runs it, as fast as nobody can. */
export const runCell = (of: Driven, code: string): Promise<void> =>
  of.evaluate(async (text) => {
    const { commands, shell } = (globalThis as unknown as Lab).jupyterapp;
    const { content } = shell.currentWidget;
    content.model.cells.get(content.activeCellIndex).sharedModel.setSource(text);
    await commands.execute("notebook:run-cell");
  }, code);

/** Puts a cell before all others of the notebook in front, and runs it. */
export const runAbove = (of: Driven, code: string): Promise<void> =>
  of.evaluate(async (text) => {
    const { commands, shell } = (globalThis as unknown as Lab).jupyterapp;
    const { content } = shell.currentWidget;
    content.activeCellIndex = 0;
    await commands.execute("notebook:insert-cell-above");
    content.model.cells.get(0).sharedModel.setSource(text);
    await commands.execute("notebook:run-cell");
  }, code);

/** Waits until an output of the notebook in front has a text. */
export async function shown(of: Driven, text: string | RegExp): Promise<void> {
  const pattern =
    text instanceof RegExp ? text.source : text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const has = (wanted: string): boolean => {
    const outputs = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output";
    return [...document.querySelectorAll(outputs)].some(
      (output) =>
        new RegExp(wanted).test((output.textContent ?? "").replace(/\s+/g, " ")) &&
        output.getClientRects().length > 0,
    );
  };
  await untilPage(of, has, pattern, patience);
}
