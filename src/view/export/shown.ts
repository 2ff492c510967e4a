import type { FigureLike } from "../../../common/picture/figure-like.js";
import type { Evaluation } from "../../eval/report/evaluation.js";
import type { TrainingBatch } from "../../learn/batch.js";
import type { UpdateReport } from "../../learn/update/update-report.js";
import type { Evidence } from "../../measure/evidence/evidence.js";
import type { Scored } from "../../reward/scored.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { TrainingRun } from "../../run/trainer/training-run.js";
import type { Shown } from "../../base/show/show-as.js";
import { Board } from "../board/board.js";

/** A view that is HTML by itself: an explorer, a token view, an explanation. */
export interface HtmlView {
  html(): string;
}

/** A view that reads files first: a board. */
export interface LaterView {
  html(): Promise<string>;
}

/** What shows itself in a view. */
export type SelfShown =
  | HtmlView
  | RolloutTree
  | Scored
  | TrainingBatch
  | UpdateReport
  | Evaluation
  | Evidence
  | TrainingRun;

export const isFigure = (value: object): value is FigureLike =>
  "data" in value && "layout" in value;

const isRun = (value: object): value is TrainingRun => "steps" in value && "trainer" in value;

/** One form of what a value shows in a cell, by its media type; undefined where it has no such form. */
export function formOf(
  value: object,
  type: string,
): string | undefined | Promise<string | undefined> {
  // A run shows nothing in the cell that trained it, where its board stands already.
  if (isRun(value)) return new Board(value).now()[type];
  const display = (value as Record<symbol, (() => Shown) | undefined>)[
    Symbol.for("Jupyter.display")
  ];
  const shown = display?.call(value) ?? {};
  return shown instanceof Promise ? shown.then((bundle) => bundle[type]) : shown[type];
}
