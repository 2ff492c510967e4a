// The thread that runs cells.
import { TabInput } from "../../kernel/browser/input.js";
import { offerModules } from "../../kernel/browser/own-module.js";
import { tabPort } from "../../kernel/browser/port.js";
import { threadData } from "../../platform/browser/threads.js";
import { starter } from "../../platform/browser/starter-in-use.js";
import { openFrame } from "../python/open-frame.js";
import { builtins } from "./builtins/builtins.js";
import { openPlace } from "./open-place.js";
import { entryPoints } from "./entry-points.js";
import type { CellsData } from "./thread-data.js";

const { place, folder, words, wire, compiler, input, python, threads, files } =
  (await threadData()) as CellsData;
starter.port = threads;
openPlace(place, folder, files);
openFrame(python);
offerModules(entryPoints);
offerModules(builtins);
const { startMain } = await import("../../kernel/run/start.js");
startMain({
  wire: tabPort(wire),
  compiler: tabPort(compiler),
  words: new Int32Array(words),
  inputPort: new TabInput(input, words),
});
