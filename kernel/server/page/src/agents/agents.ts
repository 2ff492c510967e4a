import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { IDocumentManager } from "@jupyterlab/docmanager";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import { ServerConnection } from "@jupyterlab/services";
import { site } from "../site.js";
import { type Act, ActCard } from "./card.js";
import { mark, runAtEnd, tellCells } from "./cells.js";

interface Cells {
  id: string;
  notebook: string;
  from: number;
  limit: number;
}

/** What is kept of the acts that are allowed for a session. */
const keyOf = ({ session, kind, notebook }: Act): string =>
  JSON.stringify([session, kind, notebook]);

/** Asks the person about what coding agents want done, does it, and tells agents what cells hold. */
export const agents: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:agents",
  autoStart: true,
  requires: [INotebookTracker, IDocumentManager],
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker, documents: IDocumentManager) => {
    if (site !== undefined) return; // a tab has no server that agents reach
    const { events, serverSettings } = app.serviceManager;
    const allowed = new Set<string>();
    const cards = new Map<string, ActCard>();

    const post = async (path: string, body: unknown): Promise<boolean> => {
      const url = new URL(`lab/api/${path}`, serverSettings.baseUrl);
      const init = { method: "POST", body: JSON.stringify(body) };
      const { ok } = await ServerConnection.makeRequest(url.href, init, serverSettings);
      return ok;
    };
    const opened = (path: string): NotebookPanel | undefined =>
      tracker.find((panel) => panel.context.path === path);

    const run = async ({ notebook, agent, code }: Act): Promise<Record<string, unknown>> => {
      const panel = opened(notebook) ?? documents.openOrReveal(notebook);
      if (panel === undefined) throw new Error("the notebook cannot be opened");
      return await runAtEnd(panel as NotebookPanel, agent, code);
    };
    const ask = async (act: Act): Promise<void> => {
      if (!allowed.has(keyOf(act))) {
        const card = new ActCard(act);
        cards.set(act.id, card);
        const given = await card.ask();
        cards.delete(act.id);
        if (given === undefined) return;
        if (given === "refuse") {
          await post(`acts/${act.id}`, { allow: false });
          return;
        }
        if (given === "session") allowed.add(keyOf(act));
      }
      // Another page was faster, or the question is too old: then nothing is done here.
      if (!(await post(`acts/${act.id}`, { allow: true })) || act.kind === "interrupt") return;
      const result = await run(act).catch((error: unknown) => ({
        status: "error",
        message: error instanceof Error ? error.message : String(error),
      }));
      await post(`acts/${act.id}/result`, result);
    };
    const cells = async ({ id, notebook, from, limit }: Cells): Promise<void> => {
      const panel = opened(notebook);
      // Of a tab that was restored and never looked at the notebook is not there yet.
      const isReady = panel?.context.isReady === true && panel.content.model !== null;
      const answer = isReady ? tellCells(panel, from, limit) : {};
      await post("answered", { id, ...answer });
    };
    events.stream.connect((_, event) => {
      const { schema_id, ...rest } = event as unknown as { schema_id: string };
      if (schema_id === "arpo-lab/act") void ask(rest as unknown as Act);
      else if (schema_id === "arpo-lab/act-answered") cards.get((rest as Act).id)?.dispose();
      else if (schema_id === "arpo-lab/cells") void cells(rest as unknown as Cells);
    });

    tracker.widgetAdded.connect((_, panel) => {
      const again = (): void => mark(panel);
      panel.content.modelContentChanged.connect(again);
      void panel.context.ready.then(again);
    });
  },
};
