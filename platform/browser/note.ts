import type * as node from "../node/note.js";

export const note: typeof node.note = (line) => {
  // eslint-disable-next-line no-console -- a tab has no standard error
  console.error(line);
};

export const write: typeof node.write = (text) => {
  // eslint-disable-next-line no-console -- a tab has no standard output
  console.log(text.replace(/\n$/, ""));
};
