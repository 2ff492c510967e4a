import { TabInput } from "../../../../kernel/browser/input.js";
import { offerModules } from "../../../../kernel/browser/own-module.js";
import { tabPort } from "../../../../kernel/browser/port.js";
import * as addresses from "../../../../common/platform/browser/addresses.js";
import * as path from "../../../../common/platform/browser/path.js";
import { starter } from "../../../../common/platform/browser/in-use.js";
import { threadData } from "../../../../common/platform/browser/modules.js";
import * as turns from "../../../../common/platform/browser/process.js";
import { openFrame } from "../python/open-frame.js";
import { entryPoints } from "./entry-points.js";
import { openPlace } from "./open-place.js";
import type { CellsData } from "./thread-data.js";

// What cells of a tab find under Node's names: what notebooks use of them.

type Namespace = Record<string, unknown>;
type Load = () => Promise<Namespace>;

const withDefault = (names: object): Promise<Namespace> =>
  Promise.resolve({ ...names, default: names });

const assert: Load = async () => {
  const { default: check, ...names } = await import("./builtins/assert.js");
  return { ...names, default: check, strict: check };
};

const builtins: Record<string, Load> = {
  "node:assert": assert,
  "node:assert/strict": assert,
  "node:fs": async () => withDefault((await import("./builtins/fs.js")).now),
  "node:fs/promises": async () => withDefault((await import("./builtins/fs.js")).later),
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

// The thread that runs cells.

const { place, folder, words, wire, compiler, input, python, threads, files } =
  (await threadData()) as CellsData;
starter.port = threads;
openPlace(place, folder, files);
openFrame(python);
offerModules(entryPoints);
offerModules(builtins);
const { startMain } = await import("../../../../kernel/run/start.js");
startMain({
  wire: tabPort(wire),
  compiler: tabPort(compiler),
  words: new Int32Array(words),
  inputPort: new TabInput(input, words),
});
