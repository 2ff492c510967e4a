import type * as Resvg from "@resvg/resvg-js";

/** What draws an SVG as a PNG. */
export function loadResvg(): Promise<typeof Resvg> {
  return import("@resvg/resvg-js");
}
