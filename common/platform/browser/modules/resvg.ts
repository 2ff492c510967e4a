import type * as node from "../../node/modules/resvg.js";

export const loadResvg: typeof node.loadResvg = () =>
  Promise.reject(
    new Error("Cannot make a PNG: a browser tab saves figures as .svg, .html or .json only"),
  );
