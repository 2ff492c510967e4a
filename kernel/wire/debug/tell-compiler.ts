import { currentFolder } from "../current-folder.js";
import type { CompilerClient } from "../../contract/compiler-client.js";

let told = 0;

/**
 * Cells are checked against what the compiler knows: of a variable that no cell has declared it is told by
 * a cell of its own, which never runs.
 */
export async function tellCompiler(
  { compiler, language }: { compiler: CompilerClient; language: "typescript" | "javascript" },
  name: string,
): Promise<void> {
  const id = `debugger/${++told}`;
  const source = `let ${name}${language === "typescript" ? ": any" : ""};`;
  const filename = `debugger-${told}`;
  const folder = currentFolder();
  await compiler.call("compile", { id, count: 0, source, filename, folder, kind: "cell" });
  compiler.tell("settled", id, "ok", [name]);
}
