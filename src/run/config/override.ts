import { checkArguments } from "../../../common/options/check-arguments.js";
import { parse } from "yaml";

/** One change from a command line. */
interface Override {
  kind: "set" | "remove";
  path: string;
  value?: unknown;
}

/**
 * Reads one override as Hydra writes them: `key=value`, `+key=value`, `++key=value`, `~key`. The value
 * is YAML. Nothing behind the `=` (a shell variable that was never set) leaves the key as it is.
 */
export function parseOverride(text: string): Override | undefined {
  checkArguments("override", { text }, { text: "text" });
  const removal = /^~([\w.]+)(?:=.*)?$/.exec(text);
  if (removal) return { kind: "remove", path: removal[1]! };
  const [, path, source] = /^\+{0,2}([\w.]+)=([^]*)$/.exec(text) ?? [];
  if (path === undefined || source === undefined) {
    throw new SyntaxError(
      `Cannot override: an override must look like key=value, ++key=value or ~key, got ${text}`,
    );
  }
  if (source.trim() === "") return undefined;
  try {
    return { kind: "set", path, value: parse(source) as unknown };
  } catch (error) {
    throw new SyntaxError(
      `Cannot override ${path}: the value must be YAML, got ${source} (${(error as Error).message.split("\n")[0]})`,
    );
  }
}
