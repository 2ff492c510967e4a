import { randomUUID } from "#platform/uuid";
import { escapeHtml } from "../../../picture/escape.js";
import type { LiveShow } from "../../show/watch-as.js";
import type { BranchValues } from "../../values/branch-values.js";
import { viewHost } from "../kernel.js";
import { profilePicture } from "./profile-picture.js";

/** Values as their picture and their words. */
export function showBranchValues(values: BranchValues): Record<string, string> {
  const text = String(values);
  const picture = profilePicture(values);
  if (picture === undefined) return { "text/plain": text };
  return {
    "text/html": `${picture}<pre>${escapeHtml(text)}</pre>`,
    "image/svg+xml": picture,
    "text/plain": text,
  };
}

/** A measurement that goes on. */
export interface GrowingValues {
  done: () => number;
  total: number;
}

const leastPause = 500;

/** Shows how far a measurement is while it goes on, in place. */
export function watchBranchValues({ done, total }: GrowingValues): LiveShow | undefined {
  const host = viewHost();
  if (!host?.cell()) return undefined;
  const id = randomUUID();
  const began = performance.now();
  const first = done();
  let shown = false;
  let next = 0;
  const show = (): void => {
    const now = done();
    const made = now - first;
    const left = made > 0 ? ((performance.now() - began) / made / 1000) * (total - now) : undefined;
    const rest = left === undefined || now === total ? "" : `, about ${Math.ceil(left)} s left`;
    const text = `branch values: ${now} of ${total} prompts${rest}`;
    const html = `<label>${text}<br><progress max="${total}" value="${now}" style="width:100%"></progress></label>`;
    host.display({ "text/html": html, "text/plain": text }, { id, update: shown });
    shown = true;
  };
  return {
    step: () => {
      if (performance.now() < next) return;
      show();
      next = performance.now() + leastPause;
    },
    done: show,
  };
}
