import type { PageColours } from "../../page/page-colours.js";
import { startExplorer } from "./start-explorer.js";

/** Starts the explorer of each box when the box is first opened: a page of hundreds draws none before. */
export function openExplorers(boxes: readonly HTMLDetailsElement[], colours: PageColours): void {
  const open = (box: HTMLDetailsElement) => {
    const view = box.querySelector<HTMLElement>("[data-explorer]");
    if (!box.open || !view || view.dataset["explorer"] === "started") return;
    view.dataset["explorer"] = "started";
    startExplorer(view.id, colours);
  };
  for (const box of boxes) {
    box.addEventListener("toggle", () => {
      open(box);
    });
    open(box);
  }
}
