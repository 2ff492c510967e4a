import type * as node from "../../node/process/terminal.js";

export const askTerminal: typeof node.askTerminal = () =>
  Promise.reject(new Error("Cannot ask: only a cell can in a browser tab"));
