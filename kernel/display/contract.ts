// What the host needs of kernel/display, loaded when the first value that is not a primitive is shown.
import type { MimeBundle } from "../host/host.js";

/**
 * kernel/display/format.ts exports `formatValue` of this type: any value to a mime bundle with
 * `text/plain` in it. undefined when there is nothing to show (the value is undefined). It never
 * throws: a `[Symbol.for("Jupyter.display")]()` that does becomes its text with the reason.
 */
export type FormatValue = (
  value: unknown,
) => Promise<MimeBundle | undefined> | MimeBundle | undefined;
