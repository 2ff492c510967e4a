import type * as node from "../node/note.js";

/** As it was before cells had it: what they print is theirs. */
const { error, log } = globalThis.console;

export const note: typeof node.note = (line) => {
  error(line);
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

export const noteOutside: typeof node.noteOutside = note;
