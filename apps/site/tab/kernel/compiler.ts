// The thread that compiles.
import { offerTypeScript } from "../../../../kernel/browser/load-typescript.js";
import { offerModules } from "../../../../kernel/browser/own-module.js";
import { tabPort } from "../../../../kernel/browser/port.js";
import { CompilerService } from "../../../../kernel/compile/serve.js";
import type { CompilerCall } from "../../../../kernel/contract/compiler-client.js";
import { threadData } from "../../../../common/platform/browser/modules.js";
import { openPlace } from "./open-place.js";
import type { CompilerData } from "./thread-data.js";

const { place, folder, language, callers, files } = (await threadData()) as CompilerData;
openPlace(place, folder, files);
offerModules({
  "file:///lab/dist/src/api/stages.js": () => import("../../../../src/api/stages.js"),
});

async function makeCompiler() {
  const script = new URL("typescript.js", import.meta.url).href;
  const { default: typescript } = (await import(script)) as { default: unknown };
  offerTypeScript(typescript);
  const { createCellCompiler } = await import("../../../../kernel/compile/compiler.js");
  return createCellCompiler({ language, folder });
}
const service = new CompilerService(makeCompiler());
for (const caller of callers) {
  const port = tabPort(caller);
  port.onMessage((call: CompilerCall) => service.call(port, call));
}
