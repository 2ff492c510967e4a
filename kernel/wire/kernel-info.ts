import { runtime } from "#platform/process";
import { labVersion } from "../host/versions.js";
import { PROTOCOL_VERSION, type Json } from "./message.js";

/** The answer to kernel_info_request. */
export function kernelInfo(language: "typescript" | "javascript", debugs: boolean): Json {
  const version = labVersion();
  const typescript = language === "typescript";
  return {
    status: "ok",
    protocol_version: PROTOCOL_VERSION,
    implementation: "arpo-lab",
    implementation_version: version,
    language_info: {
      name: language,
      version: runtime.version,
      mimetype: typescript ? "text/typescript" : "text/javascript",
      file_extension: typescript ? ".ts" : ".js",
      pygments_lexer: language,
      codemirror_mode: language,
      nbconvert_exporter: "script",
    },
    banner: `arpo-lab ${version}: ${typescript ? "TypeScript" : "JavaScript"} on ${runtime.name} ${runtime.version}`,
    debugger: debugs,
    supported_features: ["kernel subshells", ...(debugs ? ["debugger"] : [])],
    help_links: [
      { text: "TypeScript", url: "https://www.typescriptlang.org/docs/" },
      { text: "Node.js", url: "https://nodejs.org/api/" },
    ],
  };
}
