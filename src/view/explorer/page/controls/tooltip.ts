import { element } from "../../../page/element.js";
import { chanceBar, choicesAt, decisionsAt } from "../panel/decision-card.js";
import { tokenCard } from "../panel/token-card.js";
import { resultOf } from "../tree/chip-words.js";
import { cut, signed, two } from "../tree/words.js";
import type { ExplorerView } from "../view.js";
import type { Hit } from "./hit.js";

/** What a place tells the pointer; the panel tells all of it to everybody else. */
export function tipOf(view: ExplorerView, hit: Hit): Node[] {
  const { facts } = view;
  const { tree } = facts;
  const line = (...content: (string | Node | undefined)[]) => element("div", {}, ...content);
  const muted = (text: string) => element("div", { class: "ax-muted" }, text);
  if (hit.ghost) {
    const words = `With these settings trajectory ${hit.ghost.trajectory} would branch here. Its text is unknown until you roll it out.`;
    return [line(element("b", {}, "New branch")), muted(words)];
  }
  if (hit.isGutter) {
    const { score, reason } = tree.trajectories[hit.trajectory]!;
    const answer = facts.answers[hit.trajectory]!;
    return [
      line(
        element("b", {}, `Trajectory ${hit.trajectory}`),
        answer === "" ? "" : ` answered ${answer}`,
      ),
      ...(score == null
        ? []
        : [
            line(
              `score ${Number(score.toPrecision(3))}, group mean ${two(facts.mean)}, advantage ${signed(facts.advantages[hit.trajectory])}`,
            ),
          ]),
      ...(reason == null ? [] : [muted(reason)]),
    ];
  }
  if (hit.node === undefined) return [];
  if (hit.isMark) {
    const decisions = decisionsAt(view, hit.node).flatMap((decision) => [
      line(
        element("b", {}, decision.branch ? "Branched" : "No branch"),
        decision.child === undefined ? "" : ` → trajectory ${decision.child}`,
      ),
      line(decision.words),
      ...[chanceBar(decision)].filter((bar) => bar !== undefined),
    ]);
    return decisions.length > 0 ? decisions : choicesAt(view, hit.node).map((words) => line(words));
  }
  const node = tree.nodes[hit.node]!;
  if (node.kind === "tool") {
    return [
      line(
        element("b", {}, node.tool?.tag ?? "tool"),
        " ",
        element("code", {}, cut(node.tool?.input ?? "", 60)),
      ),
      element("pre", {}, cut(resultOf(tree, node), 220)),
      muted("tool result · click to unfold"),
    ];
  }
  return hit.token === undefined || hit.token < 0 ? [] : [tokenCard(tree, node.start + hit.token)];
}

/** A box beside the pointer, inside the explorer. */
export function makeTooltip(view: ExplorerView): {
  box: HTMLElement;
  show: (hit: Hit | undefined, clientX: number, clientY: number) => void;
  hide: () => void;
} {
  const box = element("div", { class: "ax-tip", "aria-hidden": "true" });
  box.hidden = true;
  const hide = () => void (box.hidden = true);
  return {
    box,
    hide,
    show: (hit, clientX, clientY) => {
      const content = hit ? tipOf(view, hit) : [];
      if (content.length === 0) {
        hide();
        return;
      }
      box.replaceChildren(...content);
      box.hidden = false;
      const outer = view.root.getBoundingClientRect();
      const own = box.getBoundingClientRect();
      let [x, y] = [clientX - outer.left + 14, clientY - outer.top + 18];
      if (x + own.width > outer.width - 6) x = Math.max(6, clientX - outer.left - own.width - 14);
      const low = Math.min(innerHeight, outer.bottom) - outer.top;
      if (y + own.height > low - 6) y = clientY - outer.top - own.height - 14;
      box.style.left = `${x}px`;
      box.style.top = `${y}px`;
    },
  };
}
