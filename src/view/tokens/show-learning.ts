import { isTrained, type TrainingBatch } from "../../learn/batch.js";
import type { UpdateReport } from "../../learn/update/update-report.js";
import { numberText } from "../page/words.js";
import { tokenPayload } from "./payload.js";
import { TokenView, tokenView } from "./token-view.js";

/** A batch's tokens on the colour of their advantages. */
export function showBatchTokens(batch: TrainingBatch): Record<string, string> {
  const text = String(batch);
  const title = text.split("\n")[0]!;
  const view = new TokenView(tokenPayload(batch, [], [title]));
  return { ...view.bundle(), "text/plain": text };
}

const told: [metric: string, name: string][] = [
  ["actor/pg_loss", "policy loss"],
  ["actor/grad_norm", "gradient norm"],
  ["actor/ppo_kl", "KL in the update"],
  ["actor/kl_loss", "KL from the reference"],
  ["actor/pg_clipfrac", "clipped"],
  ["actor/entropy_loss", "entropy"],
  ["actor/lr", "learning rate"],
];

/** An update's figures, and what it did to each token. */
export function showReportTokens(report: UpdateReport): Record<string, string> {
  const plain = { "text/plain": String(report) };
  const trained = report.batch.trajectories.every(isTrained);
  if (!trained || report.batch.trajectories.length === 0) return plain;
  const cards = told.flatMap(([metric, name]) => {
    const value = report.metrics[metric];
    if (value === undefined) return [];
    const shown = numberText(value, 4);
    return [`<span class="arpo-card"><b>${shown}</b> ${name}</span>`];
  });
  if (report.skippedSteps > 0) {
    cards.push(
      `<span class="arpo-card"><b>${report.skippedSteps}</b> steps skipped: not finite</span>`,
    );
  }
  const { payload } = tokenView(report);
  const view = new TokenView(payload, `<div class="arpo-cards">${cards.join("")}</div>`);
  return { ...view.bundle(), ...plain };
}
