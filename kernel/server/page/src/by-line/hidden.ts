import { Debugger } from "@jupyterlab/debugger";

// JupyterLab's debugger takes over every debugger that it finds running. One that runs for a cell by line it
// would start again when the cell has ended, leave running, and cover the values panel with its own. So
// JupyterLab is told nothing of it, unless a person starts the debugger meanwhile.

/** By kernel: whom to tell when a person starts the debugger. */
const hidden = new Map<string, () => void>();
/** By kernel: how often its debugger was hidden or shown. An answer may be older than the last change. */
const changes = new Map<string, number>();

function changed(kernel: string): void {
  changes.set(kernel, (changes.get(kernel) ?? 0) + 1);
}

/** Hides a kernel's debugger from JupyterLab; `taken` is called when a person starts it. */
export function hideDebugger(kernel: string, taken: () => void): void {
  hidden.set(kernel, taken);
  changed(kernel);
}

export function showDebugger(kernel: string): void {
  if (hidden.delete(kernel)) changed(kernel);
}

interface DebugSession {
  connection: { kernel: { id: string } | null } | null;
  sendRequest(command: string, args: unknown): Promise<{ body: object }>;
  _handleEvent(sender: unknown, message: unknown): void;
}

const kernelOf = (session: DebugSession): string => session.connection?.kernel?.id ?? "";

/** Once, before JupyterLab makes its first debug session. */
export function hideFromJupyterLab(): void {
  const sessions = Debugger.Session.prototype as unknown as DebugSession;
  const { sendRequest, _handleEvent } = sessions;
  sessions._handleEvent = function (this: DebugSession, sender, message) {
    if (!hidden.has(kernelOf(this))) _handleEvent.call(this, sender, message);
  };
  sessions.sendRequest = async function (this: DebugSession, command, args) {
    const kernel = kernelOf(this);
    if (command === "initialize") {
      hidden.get(kernel)?.();
      showDebugger(kernel);
    }
    const before = changes.get(kernel);
    const reply = await sendRequest.call(this, command, args);
    const isKept = hidden.has(kernel) || changes.get(kernel) !== before;
    if (command !== "debugInfo" || !isKept) return reply;
    return { ...reply, body: { ...reply.body, isStarted: false, stoppedThreads: [] } };
  };
}
