import type { FramedPython, FrameSettings } from "../../node/modules/python-frame.js";

/** The way to Python's frame, which whoever started this thread gives. */
export const frame: { open: ((settings: FrameSettings) => FramedPython) | undefined } = {
  open: undefined,
};
