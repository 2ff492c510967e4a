import { carried, element } from "../../page/element.js";
import type { WorkStatus } from "../payload.js";
import { statusBar } from "./status-bar.js";

/** Brings the status of work that goes on to life. */
export function startStatus(id: string): void {
  // Where a status replaces itself, the new one is the last of its name.
  const root = [...document.querySelectorAll<HTMLElement>(`[id="${id}"]`)].at(-1);
  const status = carried<WorkStatus>(root, "status");
  if (!root || status === undefined) return;
  const done = element("progress", { max: "1", "aria-label": "how much is done" });
  const table = element("pre", {});
  const show = ({ share, table: text }: Pick<WorkStatus, "share" | "table">) => {
    done.hidden = share === undefined;
    if (share !== undefined) done.value = share;
    table.hidden = text === undefined;
    table.textContent = text ?? "";
  };
  show(status);
  root.querySelector("[data-picture]")?.remove();
  root.append(statusBar(status, show), done, table);
}
