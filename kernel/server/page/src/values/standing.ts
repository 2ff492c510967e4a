import type { NotebookPanel } from "@jupyterlab/notebook";
import { Token } from "@lumino/coreutils";

/** A value where a cell stands. */
export interface StandingValue {
  name: string;
  value: string;
  /** Of the cell or function itself; the others are the session's. */
  isHere: boolean;
}

/** What has a value where a cell stands. */
export interface StandingValues {
  list: StandingValue[];
  /** A mime bundle of one, while it stands there. */
  show(name: string): Promise<Record<string, unknown>>;
}

/** What the panel shows while a cell stands at a line. */
export interface IStandingValues {
  /** The values at a notebook's line; undefined when it continues. */
  stand(notebook: NotebookPanel, values: StandingValues | undefined): void;
  /** Brings the panel to the front. */
  front(): void;
}

export const IStandingValues = new Token<IStandingValues>("arpo-lab:standing-values");
