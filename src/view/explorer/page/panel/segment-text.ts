import { element } from "../../../page/element.js";
import { heatStep } from "../../../draw/theme.js";
import { tokenText } from "../tree/unpack-tree.js";
import type { ExplorerView } from "../view.js";

// Characters that are written at once; more where a box shows more.
let shown = 300;

/** A segment's tokens, each with its bar below it: the text's contrast stays the page's. */
export function segmentText(view: ExplorerView, node: number, marked = -1): HTMLElement {
  const { facts, measure, theme, state } = view;
  const { start, length } = facts.tree.nodes[node]!;
  const box = element("div", { class: "ax-text", tabindex: "0", role: "group" });
  box.setAttribute("aria-label", "Text of the segment: arrow keys move over the tokens");
  const current = marked >= 0 ? marked : state.selected === node ? state.token : -1;
  const rest = element("i", { class: "ax-muted" });
  let watch: IntersectionObserver | undefined;
  let [count, characters] = [0, 0];
  const writeTo = (most: number, least = 0) => {
    for (; count < length && (characters < most || count < least); count++) {
      const span = tokenAt(count);
      characters += span.textContent.length;
      rest.before(span);
    }
    rest.textContent = ` … ${length - count} more tokens`;
    if (count < length) return;
    rest.remove();
    watch?.disconnect();
  };
  const tokenAt = (t: number) => {
    const level = measure.level(start + t, node);
    const known = Number.isNaN(level) ? 0 : Math.abs(level);
    const colour = measure.sides
      ? level >= 0
        ? theme.right
        : theme.wrong
      : theme.heat[heatStep(known)]!;
    const tall = Math.max(1, Math.round(known * 8));
    const style = `border-bottom:${tall}px solid ${colour};padding-bottom:${10 - tall}px`;
    const span = element("span", { style, "data-token": String(t) });
    span.textContent = tokenText(facts.tree, facts.tree.tokens[start + t]!);
    if (t === current) span.className = "ax-on";
    return span;
  };
  box.append(rest);
  writeTo(shown, current + 40);
  if (count < length) {
    // The rest follows when it is scrolled to.
    watch = new IntersectionObserver(
      (seen, own) => {
        if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
        if (box.scrollTop === 0) shown = characters + 300;
        writeTo(characters + 300);
        // Asked again, it tells whether the end is still in view.
        own.unobserve(rest);
        if (count < length) own.observe(rest);
      },
      { root: box },
    );
    watch.observe(rest);
  }
  const choose = (token: number) =>
    view.select(node, Math.max(0, Math.min(length - 1, token)), state.trajectory);
  box.onclick = (event) => {
    const { token } = (event.target as HTMLElement).dataset;
    if (token !== undefined) choose(Number(token));
  };
  box.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    choose((state.selected === node ? state.token : -1) + step);
    // The panel was written anew: its text goes on listening.
    view.root.querySelector<HTMLElement>(".ax-text")?.focus();
  };
  return box;
}
