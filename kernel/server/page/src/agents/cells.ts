import type { Cell, CodeCell, ICodeCellModel } from "@jupyterlab/cells";
import type { IOutput } from "@jupyterlab/nbformat";
import { NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";

/** What a cell's text and its outputs may have at most; a longer one says how much is left out. */
const [mostSource, mostOutput] = [8000, 8000];

const joined = (text: unknown): string =>
  Array.isArray(text) ? text.join("") : String(text ?? "");

const plain = (text: string): string => text.replace(/\u001b\[[\d;]*m/g, "");

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = most / 2;
  return `${text.slice(0, half)}\n[… ${text.length - most} characters left out …]\n${text.slice(-half)}`;
}

/** An output as text; of pictures and pages only their type. */
function outputText(output: IOutput): string {
  if (output.output_type === "stream") return joined(output["text"]);
  if (output.output_type === "error") {
    const { ename, evalue, traceback } = output as Record<string, unknown>;
    const trace = Array.isArray(traceback) ? traceback.join("\n") : "";
    return plain(trace === "" ? `${String(ename)}: ${String(evalue)}` : trace);
  }
  const data = (output["data"] ?? {}) as Record<string, unknown>;
  const text = data["text/plain"] ?? data["text/markdown"];
  const rest = Object.keys(data).filter((type) => type !== "text/plain");
  return [
    ...(text === undefined ? [] : [plain(joined(text))]),
    ...(rest.length === 0 ? [] : [`[${rest.join(", ")}]`]),
  ].join("\n");
}

const outputsOf = (model: ICodeCellModel): string =>
  cut(model.outputs.toJSON().map(outputText).join("\n"), mostOutput);

/** Whose cell it is, where an agent added it. */
function agentOf({ model }: Cell): string | undefined {
  const own = model.getMetadata("arpo-lab") as { agent?: unknown } | undefined;
  return typeof own?.agent === "string" ? own.agent : undefined;
}

/** A cell in plain data. */
function told(cell: Cell, index: number): Record<string, unknown> {
  const { model } = cell;
  const source = cut(model.sharedModel.getSource(), mostSource);
  const agent = agentOf(cell);
  const common = { cell: index, type: model.type, source, ...(agent && { added_by: agent }) };
  if (model.type !== "code") return common;
  const code = model as ICodeCellModel;
  return {
    ...common,
    count: code.executionCount,
    running: code.executionState === "running",
    output: outputsOf(code),
  };
}

/** Cells of an open notebook, those that are not saved included. */
export function tellCells(
  panel: NotebookPanel,
  from: number,
  limit: number,
): Record<string, unknown> {
  const { widgets } = panel.content;
  const cells = widgets.slice(from, from + limit).map((cell, i) => told(cell, from + i));
  return { cells, of: widgets.length, saved: !panel.context.model.dirty };
}

/** Adds a cell at the notebook's end, in the agent's name, runs it and tells what it put out. */
export async function runAtEnd(
  panel: NotebookPanel,
  agent: string,
  code: string,
): Promise<Record<string, unknown>> {
  await Promise.all([panel.context.ready, panel.sessionContext.ready, panel.revealed]);
  const { content: notebook, sessionContext } = panel;
  if (notebook.model === null || notebook.model.readOnly) {
    throw new Error("the notebook cannot be changed");
  }
  const { cells } = notebook.model.sharedModel;
  const at = cells.length;
  notebook.model.sharedModel.insertCell(at, {
    ...{ cell_type: "code", source: code },
    metadata: { "arpo-lab": { agent }, trusted: true },
  });
  const cell = notebook.widgets[at] as CodeCell;
  const id = cell.model.id;
  notebook.activeCellIndex = at;
  mark(panel);
  void notebook.scrollToItem(at);
  await NotebookActions.runCells(notebook, [cell], sessionContext);
  // It may have been moved, or deleted, while it ran.
  const index = notebook.widgets.findIndex(({ model }) => model.id === id);
  if (index < 0) return { status: "error", message: "the cell was deleted while it ran" };
  const { outputs } = cell.model;
  const failed = outputs.toJSON().some(({ output_type }) => output_type === "error");
  return { status: failed ? "error" : "ok", ...told(cell, index) };
}

/** Says beside each cell that an agent added whose it is. */
export function mark(panel: NotebookPanel): void {
  for (const cell of panel.content.widgets) {
    const agent = agentOf(cell)?.slice(0, 60);
    const old = cell.node.querySelector<HTMLElement>(".arpo-Agent");
    if ((old?.dataset["agent"] ?? undefined) === agent) continue;
    old?.remove();
    if (agent === undefined) continue;
    const note = document.createElement("p");
    note.className = "arpo-Agent";
    note.dataset["agent"] = agent;
    note.textContent = `Added by ${agent}, as you allowed`;
    cell.node.querySelector(".jp-Cell-inputWrapper")?.before(note);
  }
}
