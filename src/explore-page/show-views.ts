import { startBoard } from "../view/board/page/start-board.js";
import { startExplain } from "../view/explain/page/start-explain.js";
import { startImported } from "../view/imported/page/start-imported.js";
import type { PageColours } from "../view/page/page-colours.js";
import { palettes } from "../view/palette.js";

const colours: PageColours = { light: palettes.auto, dark: palettes.dark };
const programs: Record<string, (id: string, colours: PageColours) => void> = {
  "arpo-board": startBoard,
  "arpo-explain": startExplain,
  "arpo-imported": startImported,
};

/**
 * Puts views into an element and brings them to life. The programs that they carry as text are not run, the
 * page's policy forbids it: it has the same ones.
 */
export function showViews(place: HTMLElement, html: string): void {
  place.innerHTML = html;
  for (const view of place.querySelectorAll<HTMLElement>(":scope > .arpo-view")) {
    for (const name of view.classList) programs[name]?.(view.id, colours);
  }
}
