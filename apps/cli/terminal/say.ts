import { printable } from "../../../src/base/text/printable.js";

/** A line for the reader. It may quote what a model, a tool or a file says: that is shown, not obeyed. */
export const say = (line = ""): void => console.log(printable(line));

/** The same beside the answer: a note, a warning, an error. */
export const aside = (line = ""): void => console.error(printable(line));
