/** The half of `arpo-lab/kernel` that a cell in a browser tab has too: showing values, asking, talking to the page. */

// Showing values
export { clearOutput, display, type DisplayHandle, type ShowOptions } from "./display/display.js";
export {
  html,
  image,
  javascript,
  json,
  latex,
  markdown,
  raw,
  type Rich,
  svg,
  text,
} from "./display/rich.js";
export { formatValue } from "./display/format.js";
export type { MimeBundle } from "./host/host.js";
export { progress } from "./display/progress/progress.js";
export { widget, type Widget, type WidgetOptions } from "./display/widget/widget.js";

// How values of your own classes show themselves
export { displaySymbol, type Displayable } from "./display/displayable.js";
export { summarySymbol, type Summarizable, type ValueSummary } from "./display/summary.js";

// Asking, and talking to the page
export { prompt } from "./display/prompt.js";
export { comms } from "./display/comms.js";
export type { Comm } from "./host/host.js";
export { InterruptError } from "./host/interrupt-error.js";

// Stage cells
export { registerStage, type Stage, type StageOption } from "./contract/stage.js";
