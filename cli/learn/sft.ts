import { dirname, join } from "node:path";
import { defined } from "../../src/arguments/defined.js";
import { SftRun } from "../../src/run/sft/sft-run.js";
import { loadSftConfig } from "../../src/run/sft/sft-config.js";
import { rewardCurves } from "../../src/view/figures/reward-curves.js";
import { saveFigure } from "../../src/view/export/save-figure.js";
import { stoppable } from "../stopping.js";
import { aside, say } from "../say.js";

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
  const run = await SftRun.open(config, {
    base: dirname(path),
    stopping: stoppable("behind a step"),
    note: (message) => aside(`note: ${message}`),
  });
  const { train, evaluation } = run.counts;
  const { totalSteps } = run.trainer;
  say(
    `fine-tuning in ${run.folder}: ${train} rows${evaluation > 0 ? `, ${evaluation} held out` : ""}, ${totalSteps} steps${run.before > 0 ? `, going on behind step ${run.before}` : ""}`,
  );
  let [seconds, count, sum] = [0, 0, 0];
  for await (const step of run) {
    seconds += step.seconds;
    sum += step.loss;
    count++;
    const done = step.step + 1;
    if (step.skipped) {
      aside(
        `warning: step ${done} was skipped because its gradient was not finite (norm ${step.gradientNorm}); the weights are unchanged by it`,
      );
    }
    if (done % config.logging_steps !== 0 && step.evalLoss === undefined) continue;
    const held = step.evalLoss === undefined ? "" : `  held out ${step.evalLoss.toFixed(4)}`;
    const pace = `${(seconds / count).toFixed(2)} s/step`;
    say(
      `${done}/${totalSteps}  epoch ${step.epoch.toFixed(2)}  loss ${(sum / count).toFixed(4)}${held}  lr ${step.learningRate.toExponential(2)}  grad ${step.gradientNorm.toFixed(3)}  ${pace}`,
    );
    [seconds, count, sum] = [0, 0, 0];
  }
  if (config.plot_loss && run.log.length > 0) await plotLoss(run);
  run.dispose();
  say(`done: ${run.folder}`);
}
