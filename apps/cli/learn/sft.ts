import { dirname, join } from "node:path";
import { defined } from "../../../common/options/defined.js";
import { SftRun } from "../../../src/run/sft/sft-run.js";
import { loadSftConfig } from "../../../src/run/sft/sft-config.js";
import { rewardCurves } from "../../../src/view/figures/curves.js";
import { saveFigure } from "../../../src/view/export/save-figure.js";
import { ProgressLine } from "../../../src/base/show/progress-line.js";
import { printable } from "../../../src/base/text/printable.js";
import { liveLines } from "../terminal/live-lines.js";
import { stoppable } from "../terminal/stopping.js";
import { aside, say } from "../terminal/say.js";

/** The loss over the steps, as a picture and as a figure that plotly draws. */
async function plotLoss(run: SftRun): Promise<void> {
  const lines = run.log.map(({ step, loss, evalLoss }) => ({
    step: step + 1,
    loss,
    ...defined({ "held-out loss": evalLoss }),
  }));
  const figure = rewardCurves(lines, { metrics: ["loss", "held-out loss"] });
  for (const kind of ["svg", "json"]) {
    await saveFigure(join(run.folder, `training_loss.${kind}`), figure);
  }
}

/** `arpo-lab sft`. */
export async function sftFromConfig(path: string, overrides: string[]): Promise<void> {
  const { config, kept } = await loadSftConfig(path, overrides);
  if (kept.length > 0) aside(`without meaning here: ${kept.join(", ")}`);
  const live = process.stdout.isTTY ? liveLines(process.stdout) : undefined;
  const above = live && ((text: string) => live.print(printable(text)));
  const tell = above ?? say;
  const warn = above ?? aside;
  const run = await SftRun.open(config, {
    base: dirname(path),
    stopping: stoppable("behind a step"),
    note: (message) => warn(`note: ${message}`),
  });
  const line = new ProgressLine();
  const { train, evaluation } = run.counts;
  const { totalSteps } = run.trainer;
  say(
    `fine-tuning in ${run.folder}: ${train} examples${evaluation > 0 ? `, ${evaluation} held out` : ""}, ${totalSteps} steps${run.before > 0 ? `, resuming after step ${run.before}` : ""}`,
  );
  const show = (done: number) => {
    const progress = { step: done + 1, totalSteps, progress: done / totalSteps };
    live?.set(done < totalSteps ? line.tell({ ...progress, doing: "updating" }) : "");
  };
  let [seconds, count, sum] = [0, 0, 0];
  show(run.before);
  try {
    for await (const step of run) {
      seconds += step.seconds;
      sum += step.loss;
      count++;
      const done = step.step + 1;
      if (step.skipped) {
        warn(
          `warning: step ${done} was skipped because its gradient was not finite (norm ${step.gradientNorm}); the weights are unchanged by it`,
        );
      }
      show(done);
      if (done % config.logging_steps !== 0 && step.evalLoss === undefined) continue;
      const held = step.evalLoss === undefined ? "" : `  held out ${step.evalLoss.toFixed(4)}`;
      const pace = `${(seconds / count).toFixed(2)} s/step`;
      tell(
        `${done}/${totalSteps}  epoch ${step.epoch.toFixed(2)}  loss ${(sum / count).toFixed(4)}${held}  lr ${step.learningRate.toExponential(2)}  grad ${step.gradientNorm.toFixed(3)}  ${pace}`,
      );
      [seconds, count, sum] = [0, 0, 0];
    }
  } finally {
    live?.set("");
  }
  if (config.plot_loss && run.log.length > 0) await plotLoss(run);
  run.dispose();
  say(
    `done: ${run.folder}\nnext: board(${JSON.stringify(run.folder)}) in a cell shows it; arpo-lab sample --config run.yaml --model ${run.folder}; arpo-lab train --config run.yaml actor_rollout_ref.model.path=${run.folder}`,
  );
}
