import type { FramedPython } from "#platform/python-frame";
import type { ChildReady, ChildReply } from "./protocol.js";
import type { Hold } from "./python-child.js";

/** A worker as a thread of a page's frame. */
export const heldByFrame =
  (open: () => FramedPython): Hold =>
  (heard, ended) => {
    const { port, end } = open();
    port.onmessage = ({ data }: MessageEvent<ChildReady | ChildReply>) => heard(data);
    return {
      send: (request) => port.postMessage(request),
      hold: () => undefined, // A page's thread lives until it is ended.
      kill: () => {
        end();
        port.close();
        ended("it was ended");
      },
    };
  };
