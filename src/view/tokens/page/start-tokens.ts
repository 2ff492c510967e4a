import { element } from "../../page/element.js";
import { numberText } from "../../page/words.js";
import { starter } from "../../page/start-view.js";
import type { TokenPayload } from "../payload.js";
import type { TokenQuantity } from "../quantities.js";
import { colouringOf } from "./colouring.js";
import { legendOf, marksOf } from "./legend.js";
import { readTokens } from "./read-tokens.js";
import { rowText } from "./row-text.js";

/** Trajectories shown before the rest is left to a click. */
const most = 8;

/** Brings one token view of the page to life. */
export const startTokens = starter<TokenPayload>("tokens", (root, payload, ramps) => {
  const tokens = readTokens(payload);
  const { panels, text } = tokens;
  const names = [...panels[0]!.values.keys()];
  const isClipped = names.includes("weight");
  let quantity = names[0]!;
  let shown = most;
  const details = element("div", { class: "arpo-token", "aria-live": "polite" });
  const legend = element("span", {});
  const list = element("div", {});

  function look(token: number): void {
    const lines = panels.map(({ name, region, values, text: own }) => {
      // The numbers beside another text are those of the first panel's token.
      if (own) return element("div", {}, `${name}: ${JSON.stringify(own(token))}`);
      const where = payload.regions[region[token]!]!;
      const facts = [...values].map(([key, list]) => `${key} ${numberText(list[token], 3)}`);
      const words = isClipped || where !== "inside" ? [where, ...facts] : facts;
      return element("div", {}, `${name}: ${words.join(" · ")}`);
    });
    details.replaceChildren(element("b", {}, JSON.stringify(text(token))), ...lines);
    for (const span of list.querySelectorAll(".arpo-on")) span.classList.remove("arpo-on");
    for (const span of list.querySelectorAll(`[data-token="${token}"]`)) {
      span.classList.add("arpo-on");
    }
  }
  function draw(): void {
    const colouring = colouringOf(panels, quantity, ramps);
    legend.replaceChildren(...legendOf(quantity, colouring));
    list.replaceChildren();
    for (const row of payload.rows.slice(0, shown)) {
      const columns = panels.map((panel) =>
        element(
          "div",
          {},
          panels.length > 1 ? element("b", {}, panel.name) : undefined,
          rowText(tokens, panel, row, quantity, colouring, look),
        ),
      );
      list.append(
        element("h4", {}, row.label),
        element("div", { class: "arpo-columns" }, ...columns),
      );
    }
    const left = payload.rows.length - shown;
    if (left <= 0) return;
    const button = element("button", {}, `${left} more trajectories`);
    button.onclick = () => {
      shown += most;
      draw();
    };
    list.append(button);
  }

  const select = element("select", {});
  for (const name of names) select.append(element("option", { value: name }, name));
  select.onchange = () => {
    quantity = select.value as TokenQuantity;
    draw();
  };
  details.append("Point at a token for its numbers.");
  const marks = marksOf(isClipped);
  const { differs } = payload;
  const next = element("button", {}, `next of ${differs.length} that differ`);
  let reached = -1;
  next.onclick = () => {
    const token = differs[(reached = (reached + 1) % differs.length)]!;
    shown = Math.max(
      shown,
      payload.rows.findIndex(({ start, length }) => token < start + length) + 1,
    );
    draw();
    look(token);
    list.querySelector(`[data-token="${token}"]`)?.scrollIntoView({ block: "nearest" });
  };
  root.append(
    element(
      "div",
      { class: "arpo-bar" },
      element("label", {}, "colour ", select),
      ...(differs.length > 0 ? [next] : []),
      marks,
    ),
    element("div", { class: "arpo-legend" }, legend),
    ...[details, list],
  );
  draw();
  if (differs.length > 0) look(differs[0]!);
});
