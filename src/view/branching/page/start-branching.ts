import { element, fromHtml } from "../../page/element.js";
import { colourRamp, rampKey } from "../../page/colour-ramp.js";
import { numberText } from "../../page/words.js";
import { table } from "../../page/table.js";
import { starter } from "../../page/start-view.js";
import type { BranchingPayload, ShownPoint, ShownRule } from "../payload.js";

/** A place's numbers, the text around it, and why the rule takes it. */
function pointDetails(
  { trajectories }: BranchingPayload,
  rule: ShownRule,
  point: ShownPoint,
): HTMLElement {
  const { trajectory, at, place, scores, round, orders, children, numbers, why } = point;
  const differ = new Set(scores).size > 1;
  const of = trajectories.find((one) => one.id === trajectory)!.length;
  const times = orders.length === 1 ? "one branch" : `${orders.length} branches`;
  const told = element(
    "p",
    {},
    element("b", {}, rule.name),
    `, round ${round}: ${times} of trajectory ${trajectory} after ${at} of its ${of} tokens. ${why}.`,
  );
  const around = element(
    "div",
    { class: "arpo-around" },
    point.before,
    element("b", {}, point.token === "" ? "∎" : point.token),
    point.after,
  );
  const rows = [
    [
      differ ? "scores" : "score",
      (differ ? scores : scores.slice(0, 1)).map((score) => numberText(score, 4)).join(", "),
    ],
    ["order", orders.map((order) => order + 1).join(", ")],
    ["place of the token", String(place)],
    ...numbers.map(([name, value]) => [name, numberText(value, 4)]),
    [
      "in the tree",
      children.length > 0
        ? `trajectory ${children.join(", ")}`
        : "no: what would be written is not known",
    ],
  ];
  // A column of numbers and words: the numbers stand at its right all the same.
  const cells = rows.map(([name = "", value = ""]) =>
    /^−?[\d.]+$/.test(value) ? [name, { html: value, isNumber: true }] : [name, value],
  );
  return element("div", {}, told, around, fromHtml(table(cells)));
}

/** Brings one branching view of the page to life. */
export const startBranching = starter<BranchingPayload>("branching", (root, payload, palette) => {
  const svg = root.querySelector("svg");
  if (!svg) return;
  const { sequential } = palette;
  const { rules, trajectories } = payload;
  const marks = [...svg.querySelectorAll<SVGCircleElement>(".arpo-mark")];
  const cursor = svg.querySelector(".arpo-cursor");
  for (const mark of marks) {
    const rule = rules[Number(mark.dataset["rule"])]!;
    const [score] = rule.points[Number(mark.dataset["point"])]!.scores;
    mark.setAttribute("fill", colourRamp(sequential, ...rule.range)(score!));
  }

  const legend = element(
    "span",
    { class: "arpo-legend" },
    "each rule's lowest ",
    rampKey(colourRamp(sequential, 0, 1)),
    " its highest score; the larger, the more trajectories; a thick ring: the tree has such a trajectory; thick lines: tools' results",
  );
  const choice = element(
    "select",
    {},
    element("option", { value: "-1" }, "all"),
    ...trajectories.map(({ id }) => element("option", { value: String(id) }, String(id))),
  );
  const details = element("div", { class: "arpo-point", "aria-live": "polite" });
  let chosen: SVGCircleElement | undefined;

  function look(mark: SVGCircleElement): void {
    chosen = mark;
    const rule = rules[Number(mark.dataset["rule"])]!;
    const point = rule.points[Number(mark.dataset["point"])]!;
    details.replaceChildren(pointDetails(payload, rule, point));
    const line = mark.closest<SVGGElement>(".arpo-line")!;
    const down = Number(/translate\(0[ ,]([\d.]+)\)/.exec(line.getAttribute("transform")!)![1]);
    const [x, y, r] = ["cx", "cy", "r"].map((name) => Number(mark.getAttribute(name)));
    const drawn = (name: string, at: Record<string, number>) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(at)) made.setAttribute(key, String(value));
      return made;
    };
    cursor?.replaceChildren(
      drawn("circle", { cx: x!, cy: y! + down, r: r! + 3 }),
      drawn("line", { x1: x!, x2: x!, y1: 0, y2: svg!.viewBox.baseVal.height - 14 }),
    );
  }

  /** The nearest mark in a direction: along the line, or in the next line that has any. */
  function move(aside: number, down: number): void {
    const shown = marks.filter((mark) => !mark.classList.contains("arpo-faded"));
    if (!chosen) {
      if (shown[0]) look(shown[0]);
      return;
    }
    const at = (mark: SVGCircleElement) => Number(mark.getAttribute("cx"));
    const line = (mark: SVGCircleElement) => Number(mark.dataset["rule"]);
    const own = shown
      .filter((mark) => line(mark) === line(chosen!))
      .sort((a, b) => at(a) - at(b) || marks.indexOf(a) - marks.indexOf(b));
    const beside = own[own.indexOf(chosen) + aside];
    if (aside !== 0 && beside) look(beside);
    if (down === 0) return;
    const beyond = [...new Set(shown.map(line))]
      .filter((other) => (other - line(chosen!)) * down > 0)
      .sort((a, b) => (a - b) * down);
    const near = shown
      .filter((mark) => line(mark) === beyond[0])
      .sort((a, b) => Math.abs(at(a) - at(chosen!)) - Math.abs(at(b) - at(chosen!)));
    if (near[0]) look(near[0]);
  }

  choice.onchange = () => {
    for (const mark of marks) {
      const isOther = choice.value !== "-1" && mark.dataset["row"] !== choice.value;
      mark.classList.toggle("arpo-faded", isOther);
    }
  };
  svg.addEventListener("click", (event) => {
    const mark = (event.target as Element).closest<SVGCircleElement>(".arpo-mark");
    if (mark) look(mark);
  });
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const aside = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
    const down = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (aside === 0 && down === 0) return;
    event.preventDefault();
    move(aside, down);
  });

  const bar = element(
    "div",
    { class: "arpo-bar" },
    element("label", {}, "trajectory ", choice),
    legend,
  );
  const notes = rules.flatMap(({ name, missing }) =>
    missing === undefined ? [] : [element("p", { class: "arpo-muted" }, `${name}: ${missing}`)],
  );
  root.append(bar, details, ...notes);
  if (marks[0]) look(marks[0]);
});
