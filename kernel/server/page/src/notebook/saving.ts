import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { PathExt } from "@jupyterlab/coreutils";
import { IDocumentManager } from "@jupyterlab/docmanager";
import type { DocumentRegistry } from "@jupyterlab/docregistry";
import { ServerConnection } from "@jupyterlab/services";

interface Report {
  saved: string[];
  kept: { path: string; as: string }[];
  failed: { path: string; reason: string }[];
}

/** How long a save may take; one that asks the reader something takes longer. */
const patience = 2500;

/** Saves when the server stops, so that what was typed is in the file. */
export const saving: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:saving",
  autoStart: true,
  requires: [IDocumentManager],
  activate: (app: JupyterFrontEnd, documents: IDocumentManager) => {
    const { contents, events, serverSettings } = app.serviceManager;
    const save = async (context: DocumentRegistry.Context, report: Report): Promise<void> => {
      const { path, model } = context;
      const late = new Promise<never>((_, failed) =>
        setTimeout(() => failed(new Error("it took too long")), patience),
      );
      try {
        await Promise.race([context.save(), late]);
        if (model.dirty) throw new Error("it could not be saved");
        report.saved.push(path);
      } catch {
        // The file has changed underneath, or cannot be written: what was typed goes beside it.
        const ext = PathExt.extname(path);
        const as = `${path.slice(0, path.length - ext.length)}-unsaved-${Date.now()}${ext}`;
        const isNotebook = context.contentsModel?.type === "notebook";
        const content: unknown = isNotebook ? model.toJSON() : model.toString();
        const type = isNotebook ? "notebook" : "file";
        await contents.save(as, { type, format: isNotebook ? "json" : "text", content });
        report.kept.push({ path, as });
      }
    };
    const saveAll = async (): Promise<Report> => {
      const report: Report = { saved: [], kept: [], failed: [] };
      const dirty = new Set<DocumentRegistry.Context>();
      for (const widget of app.shell.widgets("main")) {
        const context = documents.contextForWidget(widget);
        if (context?.model.dirty === true && !context.model.readOnly) dirty.add(context);
      }
      const all = [...dirty].map((context) =>
        save(context, report).catch((error: unknown) => {
          report.failed.push({ path: context.path, reason: String(error) });
        }),
      );
      await Promise.all(all);
      return report;
    };
    const answer = async (id: string): Promise<void> => {
      const url = new URL("lab/api/answered", serverSettings.baseUrl);
      const body = JSON.stringify({ id, ...(await saveAll()) });
      await ServerConnection.makeRequest(url.href, { method: "POST", body }, serverSettings);
    };
    events.stream.connect((_, { schema_id, ...rest }) => {
      if ((schema_id as string) === "arpo-lab/save")
        void answer((rest as unknown as { id: string }).id);
    });
  },
};
