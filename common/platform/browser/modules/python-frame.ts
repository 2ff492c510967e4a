import type * as node from "../../node/modules/python-frame.js";
import { frame } from "./frame-in-use.js";

export const pythonFrame: (settings: node.FrameSettings) => node.FramedPython = (settings) => {
  if (frame.open === undefined) {
    throw new Error("Cannot start Python: this page has no frame for it");
  }
  return frame.open(settings);
};
