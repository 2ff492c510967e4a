import { element } from "../../../page/element.js";
import { many } from "../../../page/words.js";
import { timesText } from "../draw/draw-gutter.js";
import type { PackedPolicies } from "../../payload.js";
import type { ExplorerView } from "../view.js";

/** Milliseconds in which bars go from one policy's to the next one's. */
const moving = 220;

/** The slider over the policies of a run. */
interface PolicySlider {
  box: HTMLElement;
  /** Goes to a policy: bars move there. */
  go: (place: number) => void;
  by: (count: number) => void;
  /** Says where it is. */
  tell: () => void;
}

/** What a policy is called. */
export const policyName = (step: number): string =>
  step < 0 ? "as it was sampled" : `after step ${step}`;

/** How much more or less likely trajectories have become, as the geometric mean of those that are right, and of the others. */
function changeWords({ facts, logRatios }: ExplorerView): string {
  if (!logRatios) return "";
  const meanOf = (isWanted: (verdict: string | undefined) => boolean) => {
    const own = [...logRatios].filter((_, i) => isWanted(facts.verdicts[i]));
    return own.length === 0 ? undefined : own.reduce((a, b) => a + b) / own.length;
  };
  const isScored = facts.verdicts.some((verdict) => verdict !== undefined);
  const parts = isScored
    ? ([
        ["right", meanOf((verdict) => verdict === "right")],
        ["the others", meanOf((verdict) => verdict !== "right")],
      ] as const)
    : ([["trajectories", meanOf(() => true)]] as const);
  return parts
    .flatMap(([name, mean]) => (mean === undefined ? [] : [`${name} ${timesText(mean)}`]))
    .join(", ");
}

/** Chooses under which policy of a run the tree is drawn; `show` draws it under one, and between two. */
export function policySlider(
  view: ExplorerView,
  { steps, note }: PackedPolicies,
  show: (place: number) => void,
): PolicySlider {
  const { state } = view;
  const last = steps.length - 1;
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const range = element("input", {
    ...{ type: "range", class: "ax-slider", min: "0", max: String(last), step: "1" },
    ...{ "aria-label": "Policy", "data-policy": "" },
  });
  const name = element("b", {});
  const told = element("span", { class: "ax-muted" });
  let frame = 0;

  function go(place: number): void {
    const to = Math.max(0, Math.min(last, place));
    cancelAnimationFrame(frame);
    const from = state.policy;
    state.policyTo = to;
    tell();
    if (isStill) {
      show(to);
      return;
    }
    let began: number | undefined;
    const next = (now: number) => {
      began ??= now;
      const share = Math.min(1, (now - began) / moving);
      show(share < 1 ? from + (to - from) * share : to);
      if (share < 1) frame = requestAnimationFrame(next);
    };
    frame = requestAnimationFrame(next);
  }
  function tell(): void {
    const step = steps[state.policyTo]!;
    range.value = String(state.policyTo);
    range.style.setProperty("--p", `${(100 * state.policyTo) / Math.max(1, last)}%`);
    const compared =
      state.policyTo === 0
        ? "drag to see the same tokens under later policies"
        : `against ${policyName(steps[0]!)}: ${changeWords(view)}`;
    range.setAttribute("aria-valuetext", policyName(step));
    name.textContent = policyName(step);
    told.textContent = compared;
    back.disabled = state.policyTo === 0;
    on.disabled = state.policyTo === last;
  }
  const button = (label: string, sign: string, count: number) => {
    const made = element(
      "button",
      { class: "ax-button ax-square", type: "button", "aria-label": label },
      sign,
    );
    made.onclick = () => go(state.policyTo + count);
    return made;
  };
  const back = button("Earlier policy", "‹", -1);
  const on = button("Later policy", "›", 1);
  range.oninput = () => go(Number(range.value));
  const box = element(
    "div",
    { class: "ax-policies", role: "group", "aria-label": "Policy over steps" },
    back,
    element("div", { class: "ax-range" }, range),
    on,
    element(
      "p",
      { "aria-live": "polite" },
      name,
      element("span", { class: "ax-muted" }, ` · ${many(last + 1, "policy", "policies")}`),
      note === undefined ? undefined : element("span", { class: "ax-muted" }, ` (${note})`),
      element("br"),
      told,
    ),
  );
  return { box, go, by: (count) => go(state.policyTo + count), tell };
}
