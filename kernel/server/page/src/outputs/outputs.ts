import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import type { CodeCell } from "@jupyterlab/cells";
import { IConsoleTracker } from "@jupyterlab/console";
import { INotebookTracker, NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import type { OutputArea } from "@jupyterlab/outputarea";
import type { Kernel, KernelMessage } from "@jupyterlab/services";
import type { JSONObject } from "@lumino/coreutils";

/** What an output's script dispatches on an element of its own; docs/outputs.md tells how. */
interface ConnectDetail {
  target: string;
  data?: JSONObject;
  connected(channel: OutputChannel): void;
}

/** A line from an output to the kernel that made it. */
interface OutputChannel {
  send(data: JSONObject, buffers?: (ArrayBuffer | ArrayBufferView)[]): void;
  close(): void;
  /** Puts a new cell below the output's own, and runs it where asked; notebooks only. */
  insertCell?: (source: string, options?: { run?: boolean }) => void;
  onMessage?: (data: JSONObject, buffers: (ArrayBuffer | ArrayBufferView)[]) => void;
  onClose?: (data: JSONObject) => void;
}

/** Where an element stands: its kernel, and where what that prints for it is shown. */
interface OutputPlace {
  kernel: Kernel.IKernelConnection;
  area?: OutputArea;
  insertCell?: OutputChannel["insertCell"];
}

type Finder = (element: Element) => OutputPlace | undefined;

const finders = new Set<Finder>();

/** Lets widgets beyond notebooks and consoles say which kernel their outputs belong to, until it is called off. */
export function addOutputFinder(find: Finder): () => void {
  finders.add(find);
  return () => void finders.delete(find);
}

function insertBelow(panel: NotebookPanel, cell: CodeCell) {
  return (source: string, { run = false } = {}): void => {
    const notebook = panel.content;
    notebook.activeCellIndex = notebook.widgets.indexOf(cell);
    NotebookActions.insertBelow(notebook);
    notebook.activeCell?.model.sharedModel.setSource(source);
    if (run) void NotebookActions.run(notebook, panel.sessionContext);
  };
}

/** What is printed and shown for a message of the page goes to the output that sent it. */
export function showIn(area: OutputArea, message: KernelMessage.IIOPubMessage): void {
  // How JupyterLab shows what a cell prints; it has no public name.
  (area as unknown as { _onIOPub(m: KernelMessage.IIOPubMessage): void })._onIOPub(message);
}

function connect(place: OutputPlace, { target, data = {}, connected }: ConnectDetail): void {
  const { kernel, area, insertCell } = place;
  const comm = kernel.createComm(target);
  const follow = (future: Kernel.IShellFuture): void => {
    if (area === undefined) return;
    future.onIOPub = (message) => {
      if (!area.isDisposed) showIn(area, message);
    };
  };
  const channel: OutputChannel = {
    send: (content, buffers = []) => follow(comm.send(content, {}, buffers)),
    close: () => void comm.close(),
    insertCell,
  };
  comm.onMsg = ({ content, buffers = [] }) =>
    channel.onMessage?.(content.data as JSONObject, buffers);
  comm.onClose = ({ content }) => channel.onClose?.(content.data as JSONObject);
  follow(comm.open(data));
  connected(channel);
}

/** Connects scripts in outputs to the kernel that made them. */
export const outputs: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:outputs",
  autoStart: true,
  requires: [INotebookTracker, IConsoleTracker],
  activate: (_app: JupyterFrontEnd, notebooks: INotebookTracker, consoles: IConsoleTracker) => {
    addOutputFinder((element) => {
      const panel = notebooks.find(({ node }) => node.contains(element));
      const kernel = panel?.sessionContext.session?.kernel;
      if (panel === undefined || kernel == null) return undefined;
      const cell = panel.content.widgets.find(({ node }) => node.contains(element));
      if (cell === undefined || cell.model.type !== "code") return { kernel };
      const code = cell as CodeCell;
      return { kernel, area: code.outputArea, insertCell: insertBelow(panel, code) };
    });
    addOutputFinder((element) => {
      const panel = consoles.find(({ node }) => node.contains(element));
      const kernel = panel?.sessionContext.session?.kernel;
      return kernel == null ? undefined : { kernel };
    });
    document.addEventListener("arpo-lab:connect", (event) => {
      if (!(event instanceof CustomEvent) || !(event.target instanceof Element)) return;
      for (const find of finders) {
        const place = find(event.target);
        if (place === undefined) continue;
        event.preventDefault();
        connect(place, event.detail as ConnectDetail);
        return;
      }
    });
  },
};
