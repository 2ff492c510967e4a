import { type PageColours, coloursOf } from "./page-colours.js";
import { carried } from "./element.js";
import type { Palette } from "../../../common/picture/palette.js";

/**
 * What starts a view in its page: finds the newest element of its id, reads the data that it carries under a name, and
 * chooses the colours that suit the page. Without a name the view carries none.
 */
export function starter<Payload>(
  name: string | undefined,
  start: (root: HTMLElement, payload: Payload, palette: Palette, colours: PageColours) => void,
): (id: string, colours: PageColours) => void {
  return (id, colours) => {
    // Where a view replaces itself, the new one is the last of its name.
    const root = [...document.querySelectorAll<HTMLElement>(`[id="${id}"]`)].at(-1);
    const payload = name === undefined ? undefined : carried<Payload>(root, name);
    if (!root || (name !== undefined && payload === undefined)) return;
    start(root, payload as Payload, coloursOf(root, colours), colours);
  };
}
