import type { NotebookPanel } from "@jupyterlab/notebook";

// What the kernel is asked and answers is defined in kernel/contract; the page is built from its own folder
// and cannot reach it.

/** A code cell as it stands now. */
export interface CodeCell {
  id: string;
  source: string;
}

/** All code cells of a notebook, in its order. */
export function codeCells({ content }: NotebookPanel): CodeCell[] {
  return content.widgets
    .filter(({ model }) => model.type === "code")
    .map(({ model }) => ({ id: model.id, source: model.sharedModel.getSource() }));
}
