import { fileURLToPath } from "node:url";

export interface KernelSpec {
  name: string;
  json: {
    argv: string[];
    display_name: string;
    language: string;
    interrupt_mode: "message" | "signal";
    metadata: Record<string, unknown>;
  };
  logo: string;
}

const logo = (text: string, colour: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">` +
  `<rect width="64" height="64" rx="8" fill="${colour}"/>` +
  `<text x="58" y="56" text-anchor="end" font-family="sans-serif" font-weight="700" font-size="30" ` +
  `fill="#fff">${text}</text><path d="M8 12h20M18 12v8M18 20h-8M18 20h22M40 20v6" fill="none" ` +
  `stroke="#fff" stroke-width="3"/></svg>\n`;

/** The kernels this package offers to Jupyter, started with the Node that runs this. */
export function kernelSpecs(): KernelSpec[] {
  const main = fileURLToPath(new URL("../../kernel/main.js", import.meta.url));
  const spec = (name: string, title: string, language: string, mark: string): KernelSpec => ({
    name,
    json: {
      argv: [process.execPath, main, "{connection_file}", language],
      display_name: title,
      language,
      // A message is answered, works on every system and hits nobody else in the process group. A
      // signal interrupts as well, from a terminal for example.
      interrupt_mode: "message",
      metadata: { debugger: false },
    },
    logo: mark,
  });
  return [
    spec("arpo-lab", "TypeScript (arpo-lab)", "typescript", logo("TS", "#3178c6")),
    spec("arpo-lab-js", "JavaScript (arpo-lab)", "javascript", logo("JS", "#b59a00")),
  ];
}
