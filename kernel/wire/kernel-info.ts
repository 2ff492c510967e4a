import { createRequire } from "node:module";
import { PROTOCOL_VERSION, type Json } from "./message.js";

const { version } = createRequire(import.meta.url)("../../../package.json") as { version: string };

/** The answer to kernel_info_request. */
export function kernelInfo(language: "typescript" | "javascript"): Json {
  const typescript = language === "typescript";
  return {
    status: "ok",
    protocol_version: PROTOCOL_VERSION,
    implementation: "arpo-lab",
    implementation_version: version,
    language_info: {
      name: language,
      version: process.versions.node,
      mimetype: typescript ? "text/typescript" : "text/javascript",
      file_extension: typescript ? ".ts" : ".js",
      pygments_lexer: language,
      codemirror_mode: language,
      nbconvert_exporter: "script",
    },
    banner: `arpo-lab ${version}: ${typescript ? "TypeScript" : "JavaScript"} on Node ${process.versions.node}`,
    debugger: true,
    supported_features: ["debugger"],
    help_links: [
      { text: "TypeScript", url: "https://www.typescriptlang.org/docs/" },
      { text: "Node.js", url: "https://nodejs.org/api/" },
    ],
  };
}
