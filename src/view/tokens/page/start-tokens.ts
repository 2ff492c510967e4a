import { colourRamp, type PageColours } from "../../explorer/page/colours.js";
import { element } from "../../explorer/page/element.js";
import { unpackNumbers } from "../../explorer/page/unpack-numbers.js";
import type { PackedNumbers } from "../../explorer/payload.js";
import type { TokenPayload, TokenQuantity } from "../payload.js";

/** Brings one token view of the page to life. */
export function startTokens(id: string, colours: PageColours): void {
  const root = document.getElementById(id);
  const source = root?.querySelector("script[data-tokens]")?.textContent;
  if (!root || source == null) return;
  const payload = JSON.parse(source) as TokenPayload;
  const bytes = (data: string) => Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer;
  const tokens = payload.wide
    ? new Uint32Array(bytes(payload.tokens))
    : new Uint16Array(bytes(payload.tokens));
  const numbers = ({ low, high, data }: PackedNumbers) =>
    unpackNumbers(new Uint16Array(bytes(data)), low, high);
  const panels = payload.panels.map(({ name, quantities, region }) => ({
    name,
    region: new Uint16Array(bytes(region)),
    values: new Map(
      Object.entries(quantities).map(([key, packed]) => [key as TokenQuantity, numbers(packed)]),
    ),
  }));
  const names = [...panels[0]!.values.keys()];
  let quantity = names[0]!;
  let shown = 8;
  const show = (x: number) => (Number.isNaN(x) ? "–" : String(Number(x.toPrecision(3))));
  const text = (token: number) =>
    payload.vocabulary[tokens[token]!] ?? `#${String(tokens[token])} `;

  const channels = (getComputedStyle(root).color.match(/[\d.]+/g) ?? []).map(Number);
  const isDark = 0.3 * channels[0]! + 0.59 * channels[1]! + 0.11 * channels[2]! > 140;
  root.dataset["theme"] = isDark ? "dark" : "light";
  const ramps = isDark ? colours.dark : colours.light;
  function colouring() {
    const middle = quantity === "ratio" ? 1 : 0;
    let reach = 1e-9;
    let below = quantity === "ratio";
    for (const panel of panels) {
      for (const value of panel.values.get(quantity) ?? []) {
        if (Number.isNaN(value)) continue;
        reach = Math.max(reach, Math.abs(value - middle));
        below ||= value < middle;
      }
    }
    // One far ratio must not hide what the others did.
    if (quantity === "ratio") reach = Math.min(reach, 1);
    const low = below ? middle - reach : middle;
    const high = middle + reach;
    return { low, high, colour: colourRamp(below ? ramps.diverging : ramps.sequential, low, high) };
  }

  const details = element("div", { class: "arpo-token", "aria-live": "polite" });
  const list = element("div", {});
  function look(token: number): void {
    const lines = panels.map(({ name, region, values }) => {
      const facts = [...values].map(([key, own]) => `${key} ${show(own[token]!)}`);
      return element(
        "div",
        {},
        `${name}: ${payload.regions[region[token]!]} · ${facts.join(" · ")}`,
      );
    });
    details.replaceChildren(element("b", {}, JSON.stringify(text(token))), ...lines);
    for (const span of list.querySelectorAll(".arpo-on")) span.classList.remove("arpo-on");
    for (const span of list.querySelectorAll(`[data-token="${token}"]`)) {
      span.classList.add("arpo-on");
    }
  }
  function heat(panel: (typeof panels)[number], row: TokenPayload["rows"][number]): HTMLElement {
    const { colour } = colouring();
    const values = panel.values.get(quantity);
    const box = element("div", { class: "arpo-text", tabindex: "0", role: "group" });
    box.setAttribute("aria-label", `${panel.name}, ${row.label}: arrow keys move over the tokens`);
    const { region } = panel;
    const untrained = payload.regions.length - 1;
    const end = row.start + row.length;
    let next = row.start;
    const more = () => {
      const stop = Math.min(end, next + 600);
      for (; next < stop; next++) {
        const span = element("span", { "data-token": String(next) }, text(next));
        span.style.background = colour(values?.[next] ?? NaN);
        const place = region[next]!;
        // Not by colour alone: what lost its gradient is struck out, what lies outside is underlined.
        if (place === untrained) span.className = "arpo-untrained";
        else if (place > 0) {
          span.className = panel.values.get("weight")![next] === 0 ? "arpo-lost" : "arpo-kept";
        }
        box.append(span);
      }
      if (next >= end) return;
      const button = element("button", {}, `${end - next} more tokens`);
      button.onclick = () => {
        button.remove();
        more();
      };
      box.append(button);
    };
    more();
    let current = row.start - 1;
    const pointed = (event: Event) => {
      const { token } = (event.target as HTMLElement).dataset;
      if (token !== undefined) look((current = Number(token)));
    };
    box.onclick = pointed;
    box.onmouseover = pointed;
    box.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      look((current = Math.max(row.start, Math.min(end - 1, current + step))));
    };
    return box;
  }
  const legend = element("span", {});
  function showLegend(): void {
    const { low, high, colour } = colouring();
    const stops = [0, 0.25, 0.5, 0.75, 1].map((part) => colour(low + part * (high - low)));
    const style = `background:linear-gradient(90deg,${stops.join(",")})`;
    const [left, right] =
      quantity === "push" || quantity === "advantage"
        ? ["less likely ", " likelier"]
        : [`${show(low)} `, ` ${show(high)}`];
    legend.replaceChildren(
      ...[left, element("i", { class: "arpo-ramp", style }), `${right}: ${meanings[quantity]}`],
    );
  }
  function draw(): void {
    list.replaceChildren();
    showLegend();
    for (const row of payload.rows.slice(0, shown)) {
      const columns = panels.map((panel) =>
        element(
          "div",
          {},
          panels.length > 1 ? element("b", {}, panel.name) : undefined,
          heat(panel, row),
        ),
      );
      list.append(
        element("h4", {}, row.label),
        element("div", { class: "arpo-columns" }, ...columns),
      );
    }
    const left = payload.rows.length - shown;
    if (left <= 0) return;
    const button = element("button", {}, `${left} more rows`);
    button.onclick = () => {
      shown += 8;
      draw();
    };
    list.append(button);
  }
  const meanings: Record<TokenQuantity, string> = {
    push: "advantage times what clipping leaves of it",
    weight: "the factor that clipping leaves on the gradient",
    ratio: "the probability now over that when it was sampled",
    advantage: "how much better than expected the row did",
    entropy: "how open the choice was (nats)",
  };
  const select = element("select", {});
  for (const name of names) select.append(element("option", { value: name }, name));
  select.onchange = () => {
    quantity = select.value as TokenQuantity;
    draw();
  };
  const clipped = [
    element("span", { class: "arpo-lost" }, "struck out"),
    ": clipping dropped its gradient · ",
    element("span", { class: "arpo-kept" }, "underlined"),
    ": outside the bounds, gradient kept · ",
  ];
  const key = element(
    "span",
    { class: "arpo-key-words" },
    ...(names.includes("weight") ? clipped : []),
    "grey: not trained",
  );
  const label = element("label", {}, "colour ", select);
  details.append("Point at a token for its numbers.");
  const words = element("div", { class: "arpo-legend" }, legend);
  root.append(element("div", { class: "arpo-bar" }, label, key), words, details, list);
  draw();
}
