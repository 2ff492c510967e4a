import { rejectionTests } from "../../../../learn/correction/rejection.js";
import { pageTheme } from "../../../draw/figure-theme.js";
import { svgPainter } from "../../../draw/svg-painter.js";
import { element, fromHtml } from "../../../page/element.js";
import { header } from "../../../page/header.js";
import { starter } from "../../../page/start-view.js";
import { table } from "../../../page/table.js";
import { numberText } from "../../../page/words.js";
import { colouringOf } from "../../page/colouring.js";
import { legendOf, marksOf } from "../../page/legend.js";
import type { PageTokens, UnpackedPanel } from "../../page/read-tokens.js";
import { rowText } from "../../page/row-text.js";
import type { TunerPayload, TunerSettings } from "../payload.js";
import { drawAdvantage } from "./draw-advantage.js";
import { causeWords, readTuner, tune, type Tuned, type TunerBatch } from "./tune.js";
import { causeHeads, causeRows, settingsCode, tunedWords } from "./tuner-words.js";

/** Regions as the tokens' text marks them: 0 inside, 1 outside, 2 not trained. */
const regions = ["inside", "outside", "not trained"];
const height = 250;

type Numeric = "low" | "high" | "c" | "cap" | "offPolicyMask" | "rejectAt";

/** A slider. */
interface Knob {
  key: Numeric;
  label: string;
  least: number;
  most: number;
  step: number;
  isUsed: (settings: TunerSettings, payload: TunerPayload) => boolean;
}

const clips = ({ loss }: TunerSettings, { losses }: TunerPayload) =>
  losses.find(({ name }) => name === loss)?.clips === true;
const knobs: readonly Knob[] = [
  { key: "low", label: "Clip below 1 by", least: 0, most: 1, step: 0.01, isUsed: clips },
  { key: "high", label: "Clip above 1 by", least: 0, most: 2, step: 0.01, isUsed: clips },
  {
    ...{ key: "c", label: "Dual clip at", least: 1.1, most: 10, step: 0.1 },
    isUsed: ({ loss }, { losses }) => losses.find(({ name }) => name === loss)?.readsC === true,
  },
  {
    ...{ key: "cap", label: "Importance weights at most", least: 0.1, most: 10, step: 0.1 },
    isUsed: ({ weights }) => weights !== "none",
  },
  {
    ...{
      key: "offPolicyMask",
      label: "Off-policy sequence mask at",
      least: 0,
      most: 1,
      step: 0.005,
    },
    isUsed: () => true,
  },
  {
    ...{ key: "rejectAt", label: "The test's bound", least: 0.01, most: 10, step: 0.01 },
    isUsed: ({ reject }) => reject !== "none",
  },
];

/** The sliders and choices; `changed` follows every change. `tell` shows which of them matter now. */
function makeKnobs(payload: TunerPayload, settings: TunerSettings, changed: () => void) {
  const box = element("div", { class: "at-knobs", role: "group", "aria-label": "Settings" });
  const tells: (() => void)[] = [];
  const choice = <K extends "loss" | "weights" | "reject">(
    key: K,
    label: string,
    values: readonly (readonly [string, string])[],
  ) => {
    const select = element("select", { "data-setting": key });
    for (const [value, text] of values) select.append(element("option", { value }, text));
    select.onchange = () => {
      settings[key] = select.value as TunerSettings[K];
      changed();
    };
    tells.push(() => (select.value = settings[key]));
    return element("label", {}, label, select);
  };
  const check = (key: "drop" | "whole", label: string, isUsed: () => boolean) => {
    const input = element("input", { type: "checkbox", "data-setting": key });
    input.onchange = () => {
      settings[key] = input.checked;
      changed();
    };
    tells.push(() => {
      input.checked = settings[key];
      input.disabled = !isUsed();
    });
    return element("label", { class: "at-check" }, input, label);
  };
  const slider = ({ key, label, least, most, step, isUsed }: Knob) => {
    const input = element("input", {
      ...{ type: "range", min: String(least), step: String(step), "data-setting": key },
      // At the end of its slider a mask is off.
      max: String(key === "offPolicyMask" ? most + step : most),
    });
    const told = element("output", {});
    const holder = element("label", {}, label, told, input);
    input.oninput = () => {
      const value = Number(input.value);
      if (key !== "offPolicyMask") settings[key] = value;
      else settings[key] = value > most ? null : value;
      changed();
    };
    tells.push(() => {
      const value = settings[key];
      const words = value === null ? "off" : numberText(value, 3);
      input.value = String(Math.min(value ?? Infinity, Number(input.max)));
      input.disabled = !isUsed(settings, payload);
      input.setAttribute("aria-valuetext", words);
      told.textContent = words;
      holder.classList.toggle("at-off", input.disabled);
    });
    return holder;
  };
  const [low, high, c, cap, mask, bound] = knobs.map(slider);
  box.append(
    choice(
      "loss",
      "Loss",
      payload.losses.map(({ name, title }) => [name, `${name}: ${title}`] as const),
    ),
    ...[low!, high!, c!],
    choice("weights", "Importance weights against the sampler", [
      ["none", "none"],
      ["token", "of each token"],
      ["sequence", "of each trajectory"],
    ]),
    ...[cap!, check("drop", "weights above it are 0", () => settings.weights !== "none")],
    mask!,
    choice("reject", "Test against the sampler", [
      ["none", "none"],
      ...rejectionTests.map((name) => [name, name] as const),
    ]),
    bound!,
    ...(payload.keptMass === undefined
      ? []
      : [check("whole", "over the whole vocabulary, also where top-p cut it", () => true)]),
  );
  return { box, tell: () => tells.forEach((tell) => tell()) };
}

/** The tokens as the token view reads them. */
function panelOf(
  { mask, advantages }: TunerBatch,
  { ratio, push, weight, cause, outside }: Tuned,
): UnpackedPanel {
  const region = Uint16Array.from(mask, (trained, t) =>
    trained ? Number(cause[t] !== undefined || outside[t] === 1) : 2,
  );
  // Struck out is what has lost its gradient, whatever stands before it.
  const left = weight.map((x, t) => (cause[t] === undefined ? x : 0));
  const values: UnpackedPanel["values"] = new Map([
    ["push", push],
    ["weight", left],
    ["ratio", ratio],
    ["advantage", advantages.map((x, t) => (mask[t] ? x : NaN))],
  ]);
  return { name: "tokens", region, values };
}

/** Brings one tuner of the page to life. */
export const startTuner = starter<TunerPayload>("tuner", (root, payload, ramps) => {
  const batch = readTuner(payload);
  const settings = { ...payload.first };
  let tuned = tune(batch, settings);
  let row = 0;
  const said = element("p", { class: "at-said", "aria-live": "polite" });
  const chart = element("div", { class: "at-chart", role: "img" });
  const rows = element("div", {
    class: "arpo-wide",
    tabindex: "0",
    role: "group",
    "aria-label": "causes",
  });
  const code = element("pre", { class: "at-code", tabindex: "0" });
  const picker = element("select", { "data-row": "" });
  const details = element("div", { class: "arpo-token", "aria-live": "polite" });
  const text = element("div", {});
  const legend = element("div", { class: "arpo-legend" });
  const failed = element("p", { class: "arpo-notice" });
  failed.hidden = true;

  const tokens = {
    payload: { regions, differs: [] as number[] },
    panels: [],
    text: (token: number) =>
      payload.vocabulary[batch.tokens[token]!] ?? `#${String(batch.tokens[token])} `,
  } as unknown as PageTokens;

  function look(token: number): void {
    const cause = tuned.cause[token];
    const facts = batch.mask[token]
      ? `ratio ${numberText(tuned.ratio[token], 4)} · advantage ${numberText(batch.advantages[token], 3)} · weight ${numberText(tuned.weight[token], 3)}${cause === undefined ? "" : ` · no gradient: ${causeWords[cause]}`}`
      : "not trained";
    details.replaceChildren(element("b", {}, JSON.stringify(tokens.text(token))), ` ${facts}`);
    for (const one of text.querySelectorAll(".arpo-on")) one.classList.remove("arpo-on");
    text.querySelector(`[data-token="${token}"]`)?.classList.add("arpo-on");
  }
  function drawChart(): void {
    const width = Math.max(300, chart.clientWidth || 700);
    const painter = svgPainter("tuner");
    drawAdvantage(painter, pageTheme, { batch, tuned, settings }, { width, height });
    // What the painter wrote: numbers of this program, no text of the batch.
    chart.innerHTML = `<svg viewBox="0 0 ${width} ${height}" height="${height}" aria-hidden="true">${painter.parts.join("")}</svg>`;
    chart.setAttribute("aria-label", `Advantage by ratio. ${tunedWords(tuned)}`);
  }
  function drawText(): void {
    const panel = panelOf(batch, tuned);
    const colouring = colouringOf([panel], "push", ramps);
    legend.replaceChildren(element("span", {}, ...legendOf("push", colouring)), marksOf(true));
    text.replaceChildren(
      rowText(tokens, panel, payload.rows[row]! as never, "push", colouring, look),
    );
    [...picker.options].forEach((option, i) => {
      const { start, length, label } = payload.rows[i]!;
      const lost = tuned.cause.slice(start, start + length).filter((one) => one !== undefined);
      option.textContent = `${label}: ${lost.length} without a gradient`;
    });
  }
  let asked = 0;
  function changed(): void {
    tell();
    // Sliders move faster than a large batch is computed.
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(draw);
  }
  function draw(): void {
    try {
      tuned = tune(batch, settings);
      failed.hidden = true;
    } catch (error) {
      failed.textContent = error instanceof Error ? error.message : String(error);
      failed.hidden = false;
      return;
    }
    said.textContent = tunedWords(tuned);
    rows.replaceChildren(fromHtml(table(causeRows(tuned), causeHeads)));
    code.textContent = settingsCode(payload, settings);
    drawChart();
    drawText();
    performance.mark("arpo-tuner");
  }

  const { box, tell } = makeKnobs(payload, settings, changed);
  const reset = element("button", { "data-reset": "" }, "As the update was");
  reset.onclick = () => {
    Object.assign(settings, payload.first);
    changed();
  };
  payload.rows.forEach((_, i) => picker.append(element("option", { value: String(i) })));
  picker.onchange = () => {
    row = Number(picker.value);
    drawText();
  };
  details.append("Point at a token for its numbers.");
  root.querySelector("[data-picture]")?.remove();
  root.append(
    fromHtml(header(payload.title)),
    ...payload.left.map((words) => element("p", { class: "arpo-muted" }, words)),
    ...[box, failed, said, chart],
    element(
      "p",
      { class: "arpo-muted" },
      "Upwards: tokens that are to become more likely; downwards: less likely. Filled keeps its gradient, open loses it; heights are on a √ scale.",
    ),
    ...[rows, code],
    element("div", { class: "arpo-bar" }, reset, element("label", {}, "trajectory ", picker)),
    ...[legend, details, text],
  );
  // The trajectory that loses most is the one to look at.
  const losses = payload.rows.map(
    ({ start, length }) =>
      tuned.cause.slice(start, start + length).filter((one) => one !== undefined).length,
  );
  row = losses.indexOf(Math.max(...losses));
  picker.value = String(row);
  tell();
  draw();
  new ResizeObserver(drawChart).observe(chart);
});
