// A small picture for each lesson's card: what its figures look like. In the theme's colours.
const ink = "var(--jp-ui-font-color2)";
const blue = "var(--jp-brand-color1)";
const warm = "#d9722e";

const fill = (d: string, colour: string) => `<path d="${d}" fill="${colour}"/>`;
const line = (d: string, colour: string, more = "") =>
  `<path d="${d}" fill="none" stroke="${colour}" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"${more}/>`;
const dashed = ' stroke-dasharray="3 4"';
/** Bars on a line, one a token. */
const bars = (x: number, y: number, heights: readonly number[], colour = warm) =>
  fill(heights.map((h, i) => `M${x + 5 * i} ${y}v${-h}h3.5v${h}z`).join(""), colour);
const diamond = (x: number, y: number) => fill(`M${x} ${y - 4}l4 4l-4 4l-4-4z`, blue);
const tick = (x: number, y: number, colour: string) => line(`M${x} ${y}l3 3l5-6`, colour);
const cross = (x: number, y: number) => line(`M${x} ${y}l6 6m0-6l-6 6`, ink);

const pictures: Readonly<Record<string, string>> = {
  // A tree with bars and a right leaf.
  "00":
    line("M6 12v24M6 12h6M6 36h6M27 12v12h4", ink) +
    bars(14, 14, [4, 9]) +
    bars(14, 38, [7, 3]) +
    diamond(27, 12) +
    bars(33, 14, [5]) +
    bars(33, 26, [8]) +
    tick(38, 36, blue),
  "01": line("M5 40h38", ink) + bars(7, 38, [5, 8, 4, 28, 16, 6, 3]),
  // Text, a call, its result, text.
  "02":
    fill("M4 20h12v9h-12zM32 20h12v9h-12z", warm) +
    `<rect x="19" y="17" width="10" height="15" rx="3" fill="none" stroke="${blue}" stroke-width="2.5"/>` +
    line("M10 15c4-8 24-8 28 0M34 12l4 3l1-5", ink),
  "03":
    line("M5 14h38M22 14v12c0 6 2 8 7 8h14", ink) + diamond(22, 14) + fill("M41 30h5v8h-5z", warm),
  "04":
    tick(6, 14, blue) + cross(7, 30) + fill("M22 9h20v7h-20z", blue) + fill("M22 30h9v7h-9z", warm),
  "05":
    line("M5 24h38", ink) +
    fill("M8 24v-14h6v14zM27 24v-9h6v9z", blue) +
    fill("M17 24v13h6v-13zM36 24v8h6v-8z", warm),
  // What clipping does to a loss.
  "06": line("M5 38L18 24L32 10H43", blue) + line("M18 6v36M32 6v36", ink, dashed),
  "07":
    line("M5 38L32 10H43", blue) +
    line("M32 6v36", ink, dashed) +
    line("M32 22h11M39 18l4 4l-4 4", warm),
  "08": line("M6 6v36h37", ink) + line("M9 10c4 18 10 24 33 26", warm),
  "09":
    line("M6 6v36h37", ink) +
    fill("M9 36C20 34 26 20 42 8v12C28 28 22 38 9 40z", "rgba(128,128,128,.3)") +
    line("M9 38C20 36 26 24 42 14", blue),
  "10":
    line("M6 6v36h37", ink) +
    line("M9 37C20 34 26 18 42 11", blue) +
    line("M9 37C22 36 28 30 42 25", warm),
  "11":
    line("M8 8h14v32h-14zM26 8h14v32h-14z", ink) +
    line("M12 18h6M12 24h6M30 18h6", blue) +
    line("M30 26l6 6m0-6l-6 6", warm),
  "12":
    line("M16 8c-8 0-2 14-9 16c7 2 1 16 9 16M32 8c8 0 2 14 9 16c-7 2-1 16-9 16", ink) +
    line("M24 17v14M17 24h14", warm),
  // Accuracies with their intervals.
  "13":
    line("M6 6v36h37", ink) +
    fill("M9 10h18v6h-18zM9 21h26v6h-26zM9 32h11v6h-11z", blue) +
    line("M22 13h10M29 24h12M15 35h10", warm),
  "14":
    `<rect x="9" y="9" width="30" height="21" rx="2" fill="none" stroke="${ink}" stroke-width="2.5"/>` +
    line("M4 36h40", ink) +
    bars(15, 26, [5, 12, 7, 3]),
  // Entropy before and after a tool's result.
  "15":
    line("M5 40h38", ink) +
    line("M21 6v32", blue, dashed) +
    line("M6 34l5-2l5 2l5-1l5-24l5 17l5 4l6 1", warm),
  "16":
    fill("M4 30h8v9h-8zM14 30h8v9h-8zM34 30h8v9h-8z", "rgba(128,128,128,.45)") +
    fill("M24 30h8v9h-8z", warm) +
    line("M28 26v-14M23 17l5-5l5 5", blue),
  // A line that forks at every token.
  "17":
    line("M5 24h38", ink) +
    line("M11 24l6-13M21 24l6-13M31 24l6-13", warm) +
    line("M11 24l6 13M21 24l6 13M31 24l6 13", blue),
  // A right trajectory tells another one a word.
  "18":
    line("M6 24h8l8-12h20", blue) +
    line("M14 24l8 12h20", ink) +
    line("M32 16v14M27 25l5 5l5-5", warm),
};

/** The picture of the lesson in a file, as SVG; undefined for other notebooks. */
export function lessonPicture(name: string): string | undefined {
  const picture = pictures[/^(\d\d)-/.exec(name)?.[1] ?? ""];
  return (
    picture &&
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" width="48" height="48">${picture}</svg>`
  );
}
