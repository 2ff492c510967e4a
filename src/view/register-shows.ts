import type { TaskEvaluation } from "../eval/evaluate-tasks.js";
import type { Evaluation } from "../eval/report/evaluation.js";
import type { ImportedRollouts } from "../formats/imported-rollouts.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import { registerShow, registerWatch } from "../base/show/show-as.js";
import { showRunBoard, watchRun } from "./board/live.js";
import { watchWork } from "./status/watch-work.js";
import { showBranchValues } from "./values/show-values.js";
import { EvaluationView } from "./evaluation/report-page.js";
import { explore } from "./explorer/explore.js";
import { showScoredRows } from "./scored/show-scored-rows.js";
import { showBatchTokens, showReportTokens } from "./tokens/show-learning.js";

/** From here on values show themselves in these views. */
export function registerShows(): void {
  registerShow("RolloutTree", (tree: RolloutTree) => explore(tree).bundle());
  registerShow("ImportedRollouts", async (imported: ImportedRollouts) => {
    const { showImported } = await import("./imported/imported-view.js");
    return showImported(imported, { treeBytes: 1_500_000 }).bundle();
  });
  registerShow("Scored", showScoredRows);
  registerShow("TaskEvaluation", (evaluation: TaskEvaluation) =>
    showScoredRows(evaluation.scored, String(evaluation).split("\n")[0]),
  );
  registerShow("TrainingBatch", showBatchTokens);
  registerShow("UpdateReport", showReportTokens);
  registerShow("TrainingRun", showRunBoard);
  registerWatch("TrainingRun", watchRun);
  registerShow("FineTuning", showRunBoard);
  registerWatch("FineTuning", watchRun);
  registerWatch("Work", watchWork);
  registerShow("BranchValues", showBranchValues);
  registerShow("Evaluation", (evaluation: Evaluation) =>
    new EvaluationView(evaluation, { tokenBytes: 1_500_000 }).bundle(),
  );
}
