import { isTerminal, note, silence } from "#platform/note";
import { printable } from "../text/printable.js";

/** Milliseconds after which a person at a terminal wonders. */
const patienceMs = 5000;

/** Whether a terminal has shown nothing for some time. */
export const isSilent = (ms: number = patienceMs): boolean => isTerminal() && silence() >= ms;

/** Says at a terminal that was silent for a while what is being done; called often, it says so every few seconds. */
export function tellTerminal(doing: () => string): void {
  if (isSilent()) note(printable(`arpo-lab: ${doing()}`));
}
