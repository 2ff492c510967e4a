import { fileURLToPath } from "node:url";
import { kernelLogo } from "../../kernel/client/kernel-logo.js";

interface KernelSpec {
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

/** The kernels this package offers to Jupyter, started with the Node that runs this. */
export function kernelSpecs(): KernelSpec[] {
  const main = fileURLToPath(new URL("../../kernel/main.js", import.meta.url));
  const spec = (name: string, title: string, language: string): KernelSpec => ({
    name,
    json: {
      argv: [process.execPath, main, "{connection_file}", language],
      display_name: title,
      language,
      // A message is answered, works on every system and hits nobody else in the process group. A
      // signal interrupts as well, from a terminal for example.
      interrupt_mode: "message",
      metadata: { debugger: true },
    },
    logo: kernelLogo(language),
  });
  return [
    spec("arpo-lab", "TypeScript (arpo-lab)", "typescript"),
    spec("arpo-lab-js", "JavaScript (arpo-lab)", "javascript"),
  ];
}
