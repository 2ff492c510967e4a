import { element } from "../../../page/element.js";
import type { ExplorerView, Tab } from "../view.js";
import { keyTable } from "./keys.js";
import { segmentPanel } from "./segment.js";
import { rulesToAsk, whatIfPanel } from "./what-if.js";

/** The panel beside the tree, or below it. */
export interface Panel {
  box: HTMLElement;
  /** Writes what is selected now; What if? and Keys are written when they are opened. */
  tell: () => void;
}

const names: Record<Tab, string> = { segment: "Segment", whatif: "What if?", keys: "Keys" };

/** Segment, What if? and Keys; `below` stands at the end of the segment's. */
export function makePanel(view: ExplorerView, id: string, below: HTMLElement): Panel {
  const { state } = view;
  const tabs = (Object.keys(names) as Tab[]).filter(
    (tab) => tab !== "whatif" || rulesToAsk(view.facts.tree).length > 0,
  );
  const bodyId = `${id}-panel`;
  const body = element("div", {
    ...{ class: "ax-body", role: "tabpanel", id: bodyId, tabindex: "0" },
  });
  const list = element("div", { class: "ax-tabs", role: "tablist", "aria-label": "Panel" });
  const buttons = new Map<Tab, HTMLButtonElement>();
  for (const tab of tabs) {
    const button = element("button", {
      ...{ type: "button", role: "tab", id: `${id}-${tab}`, "aria-controls": bodyId },
    });
    button.append(names[tab]);
    button.onclick = () => view.openTab(tab);
    buttons.set(tab, button);
    list.append(button);
  }
  list.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = (tabs.indexOf(state.tab) + by + tabs.length) % tabs.length;
    view.openTab(tabs[at]);
    buttons.get(tabs[at]!)!.focus();
  };
  const close = element(
    "button",
    { type: "button", class: "ax-close", "aria-label": "Close the panel" },
    "×",
  );
  close.onclick = () => {
    view.openTab(undefined);
    view.scroller.focus();
  };
  const box = element(
    "div",
    { class: "ax-side" },
    element("div", { class: "ax-side-head" }, list, close),
    body,
  );
  let written: Tab | undefined;
  return {
    box,
    tell: () => {
      box.hidden = !state.isOpen;
      for (const [tab, button] of buttons) {
        button.setAttribute("aria-selected", String(tab === state.tab));
        button.tabIndex = tab === state.tab ? 0 : -1;
      }
      body.setAttribute("aria-labelledby", `${id}-${state.tab}`);
      if (!state.isOpen) {
        written = undefined;
        return;
      }
      if (state.tab === "segment") {
        body.replaceChildren(...segmentPanel(view), ...(state.selected >= 0 ? [below] : []));
      } else if (state.tab !== written) {
        body.replaceChildren(...(state.tab === "whatif" ? whatIfPanel(view) : [keyTable()]));
      }
      written = state.tab;
    },
  };
}
