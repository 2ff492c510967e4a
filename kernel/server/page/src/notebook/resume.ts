import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Notification } from "@jupyterlab/apputils";
import type { CodeCell, ICodeCellModel } from "@jupyterlab/cells";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import { type Kernel, type KernelMessage, ServerConnection } from "@jupyterlab/services";
import { KernelShellFutureHandler } from "@jupyterlab/services/lib/kernel/future";

/** What the server sends ahead of everything a run of a cell put out. */
interface Replay {
  cell: string;
  request: KernelMessage.IExecuteRequestMsg;
  /** Bytes of text that it did not keep. */
  cut: number;
}

type Futures = Map<string, Kernel.IShellFuture>;

/** The cell of a run; where the notebook was not saved with it, a new one with its text. */
function cellOf(panel: NotebookPanel, { cell: id, request }: Replay): CodeCell | undefined {
  const notebook = panel.content;
  const find = () => notebook.widgets.find(({ model }) => model.sharedModel.getId() === id);
  if (find() === undefined) {
    notebook.model?.sharedModel.addCell({ cell_type: "code", id, source: request.content.code });
  }
  const cell = find();
  return cell?.model.type === "code" ? (cell as CodeCell) : undefined;
}

/** Takes up a run that another page began: what follows for it goes to its cell, as if begun here. */
function takeUp(panel: NotebookPanel, kernel: Kernel.IKernelConnection, replay: Replay): void {
  const cell = cellOf(panel, replay);
  if (cell === undefined) return;
  const { request, cut } = replay;
  const id = request.header.msg_id;
  // Requests of this page stand there too; the connection has no public way to add one.
  const futures = (kernel as unknown as { _futures: Futures })._futures;
  futures.get(id)?.dispose();
  const future = new KernelShellFutureHandler(
    () => void futures.delete(id),
    { ...request, channel: "shell", parent_header: {}, buffers: [] } as KernelMessage.IShellMessage,
    true,
    true,
    kernel as ConstructorParameters<typeof KernelShellFutureHandler>[4],
  );
  futures.set(id, future);
  const model = cell.model as ICodeCellModel;
  model.sharedModel.transact(() => model.clearExecution(), false);
  cell.outputArea.future = future as unknown as typeof cell.outputArea.future;
  model.executionState = "running";
  model.trusted = true;
  if (cut > 0) {
    const text = `The first ${Math.ceil(cut / 1024)} KiB of this output were not kept.\n`;
    model.outputs.add({ output_type: "stream", name: "stderr", text });
  }
  future.done.then(
    (reply) => {
      const { execution_count } = reply?.content as { execution_count?: number | null };
      model.executionCount = execution_count ?? null;
      model.executionState = "idle";
    },
    // Run again, or restarted: another future is in charge now.
    () => undefined,
  );
}

/** Shows what cells put out while no page, or another one, was there. */
export const resume: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:resume",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker) => {
    const { serverSettings } = app.serviceManager;
    const followed = new WeakSet<Kernel.IKernelConnection>();
    const follow = (panel: NotebookPanel, kernel: Kernel.IKernelConnection): void => {
      if (followed.has(kernel)) return;
      followed.add(kernel);
      const ask = async (): Promise<void> => {
        await Promise.all([panel.context.ready, kernel.info]);
        if (kernel.isDisposed || kernel.connectionStatus !== "connected") return;
        const url = new URL(`api/kernels/${kernel.id}/resume`, serverSettings.baseUrl);
        const body = JSON.stringify({ session_id: kernel.clientId });
        const init = { method: "POST", body };
        const response = await ServerConnection.makeRequest(url.href, init, serverSettings);
        if (!response.ok) throw await ServerConnection.ResponseError.create(response);
      };
      const asked = (): void =>
        void ask().catch((error: unknown) => {
          // Where the line broke again, the next one asks again.
          if (kernel.connectionStatus !== "connected") return;
          Notification.error(`Outputs of running cells may be missing: ${String(error)}`);
        });
      kernel.iopubMessage.connect((_, message) => {
        if ((message.header.msg_type as string) !== "arpo_lab_replay") return;
        takeUp(panel, kernel, message.content as unknown as Replay);
      });
      kernel.connectionStatusChanged.connect((_, status) => {
        if (status === "connected") asked();
      });
      if (kernel.connectionStatus === "connected") asked();
    };
    tracker.widgetAdded.connect((_, panel) => {
      const { sessionContext } = panel;
      const now = sessionContext.session?.kernel;
      if (now != null) follow(panel, now);
      sessionContext.kernelChanged.connect((_sender, { newValue }) => {
        if (newValue !== null) follow(panel, newValue);
      });
    });
  },
};
