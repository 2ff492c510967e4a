const marks: Record<string, [text: string, colour: string]> = {
  typescript: ["TS", "#3178c6"],
  javascript: ["JS", "#b59a00"],
};

/** The icon of one of our kernels, as SVG: its language and a branching tree. */
export function kernelLogo(language: string): string {
  const [text, colour] = marks[language] ?? marks["typescript"]!;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">` +
    `<rect width="64" height="64" rx="8" fill="${colour}"/>` +
    `<text x="58" y="56" text-anchor="end" font-family="sans-serif" font-weight="700" font-size="30" ` +
    `fill="#fff">${text}</text><path d="M8 12h20M18 12v8M18 20h-8M18 20h22M40 20v6" fill="none" ` +
    `stroke="#fff" stroke-width="3"/></svg>\n`
  );
}
