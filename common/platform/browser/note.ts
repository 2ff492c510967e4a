import type * as node from "../node/note.js";

/** As it was before cells had it: what they print is theirs. */
const { error, log } = globalThis.console;

/** Where a cell runs, into its output, as in Node. */
export const note: typeof node.note = (line) => {
  globalThis.console.error(line);
};

export const write: typeof node.write = (text) => {
  log(text.replace(/\n$/, ""));
};

export const writeNote: typeof node.writeNote = (text) => note(text.replace(/\n$/, ""));

/** A browser's console is no terminal. */
export const noteWidth: typeof node.noteWidth = () => undefined;

export const isTerminal: typeof node.isTerminal = () => false;

/** Nobody reads along. */
export const silence: typeof node.silence = () => 0;

export const showsLive: typeof node.showsLive = () => undefined;

export const noteOutside: typeof node.noteOutside = (line) => {
  error(line);
};
