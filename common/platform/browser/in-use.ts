// What whoever starts a thread of a tab gives it.
import type { FramedPython, FrameSettings } from "../node/modules.js";

/** The way to Python's frame, which whoever started this thread gives. */
export const frame: { open: ((settings: FrameSettings) => FramedPython) | undefined } = {
  open: undefined,
};

/** Who starts threads, where it is not the thread that needs them: hears what they are called and told. */
export const starter: { port?: MessagePort } = {};

/** Where relative paths begin: the folder of a notebook, in the thread of its cells. */
export const here = { folder: "/" };
