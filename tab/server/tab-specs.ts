import { kernelLogo } from "../../kernel/client/kernel-logo.js";
import type { KernelSpec } from "../../kernel/client/kernel-spec.js";
import type { Router } from "../../kernel/server/http/router.js";

const languages = { "arpo-lab": "typescript", "arpo-lab-js": "javascript" } as const;
const titles = { typescript: "TypeScript (arpo-lab)", javascript: "JavaScript (arpo-lab)" };

/** The kernels of a tab: this package's own, whatever a notebook asks for. */
export function tabKernel(name: string): KernelSpec {
  const language = name === "arpo-lab-js" ? "javascript" : "typescript";
  return {
    name: language === "javascript" ? "arpo-lab-js" : "arpo-lab",
    displayName: titles[language],
    language,
    argv: [],
    env: {},
    interrupt: "message",
    transport: "ipc",
    debugger: false,
  };
}

/** Adds `/api/kernelspecs`. */
export function tabSpecRoutes(router: Router): void {
  const kernelspecs = Object.fromEntries(
    Object.entries(languages).map(([name, language]) => [
      name,
      {
        name,
        spec: {
          argv: [],
          env: {},
          display_name: titles[language],
          language,
          interrupt_mode: "message",
          metadata: {},
        },
        resources: {
          "logo-svg": `data:image/svg+xml,${encodeURIComponent(kernelLogo(language))}`,
        },
      },
    ]),
  );
  router.on("GET", "/api/kernelspecs", () => ({ json: { default: "arpo-lab", kernelspecs } }));
}
