// What cells of a tab find under Node's names: what notebooks use of them.
import * as addresses from "../../../platform/browser/addresses.js";
import * as path from "../../../platform/browser/path.js";
import * as turns from "../../../platform/browser/turns.js";

type Namespace = Record<string, unknown>;
type Load = () => Promise<Namespace>;

const withDefault = (names: object): Promise<Namespace> =>
  Promise.resolve({ ...names, default: names });

const assert: Load = async () => {
  const { default: check, ...names } = await import("./assert.js");
  return { ...names, default: check, strict: check };
};

export const builtins: Record<string, Load> = {
  "node:assert": assert,
  "node:assert/strict": assert,
  "node:fs": async () => withDefault((await import("./fs.js")).now),
  "node:fs/promises": async () => withDefault((await import("./fs.js")).later),
  "node:os": () =>
    withDefault({ EOL: "\n", homedir: () => "/home", tmpdir: () => "/tmp", platform: () => "tab" }),
  "node:path": () => withDefault(path),
  "node:timers/promises": () =>
    withDefault({
      setTimeout: async (ms: number, value?: unknown) => {
        await turns.wait(ms);
        return value;
      },
      setImmediate: turns.yieldToEventLoop,
    }),
  "node:url": () =>
    withDefault({
      URL,
      URLSearchParams,
      fileURLToPath: addresses.pathOf,
      pathToFileURL: (file: string) => new URL(addresses.addressOf(file)),
    }),
};
