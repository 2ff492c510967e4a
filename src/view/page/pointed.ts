// Links in a sentence that point into a picture: `[trajectory 5](#explorer&t=5)` lights up a lane of the explorer nearby.
import { type Stated, statedIn } from "./address.js";

const isSeen = (element: Element): boolean => element.getClientRects().length > 0;

/** Of a kind of view in the same notebook the one that stands nearest to a link. */
function nearest(link: Element, kind: string): Element | undefined {
  const home = link.closest(".jp-Notebook") ?? document.body;
  const from = link.getBoundingClientRect().top;
  const far = (view: Element) => Math.abs(view.getBoundingClientRect().top - from);
  const views = [...home.querySelectorAll(`.arpo-view.arpo-${kind}`)].filter(isSeen);
  return views.sort((a, b) => far(a) - far(b))[0];
}

/**
 * Follows the links of the page that point into this view: `#KIND` and numbers by name. They choose what is looked at, and
 * nothing else: whoever wrote the sentence runs nothing by it.
 */
export function followLinks(
  outer: HTMLElement,
  kind: string,
  below: Stated,
  point: (values: Partial<Stated>) => void,
): void {
  const follow = (event: MouseEvent) => {
    if (!outer.isConnected) return document.removeEventListener("click", follow, true);
    const { target } = event;
    const link = target instanceof Element ? target.closest('a[href^="#"]') : null;
    const [name, ...rest] = link?.getAttribute("href")?.slice(1).split("&") ?? [];
    if (!link || name !== kind || nearest(link, kind) !== outer) return;
    event.preventDefault();
    event.stopPropagation();
    point(statedIn(rest.join("&"), below));
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    outer.scrollIntoView({ block: "nearest", behavior: isStill ? "auto" : "smooth" });
  };
  document.addEventListener("click", follow, true);
}
