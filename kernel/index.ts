/** What cells import from `arpo-lab/kernel`: showing values, asking, talking to the page. */
export { comms } from "./display/comms.js";
export { displaySymbol, type Displayable } from "./display/displayable.js";
export { clearOutput, display, type DisplayHandle, type ShowOptions } from "./display/display.js";
export { errorText } from "./display/error-text.js";
export { formatValue } from "./display/format.js";
export { escapeHtml } from "./display/html.js";
export { type ImageMime, sniffImage } from "./display/image.js";
export { inspectText } from "./display/inspect.js";
export { type Json, toJson } from "./display/json.js";
export { type NumericSummary, type Numbers, numericSummary } from "./display/numeric.js";
export { Bar, type BarOptions, type BarState } from "./display/progress/bar.js";
export { progress, type Watched } from "./display/progress/progress.js";
export { prompt } from "./display/prompt.js";
export {
  html,
  image,
  javascript,
  json,
  latex,
  markdown,
  raw,
  Rich,
  svg,
  text,
} from "./display/rich.js";
export {
  summarizeValue,
  summarySymbol,
  type Summarizable,
  type ValueSummary,
} from "./display/summary.js";
export { widget, Widget, type WidgetOptions } from "./display/widget/widget.js";
export { currentHost } from "./host/host.js";
export type {
  CellIdentity,
  Comm,
  CommMessage,
  CommOptions,
  Comms,
  DisplayOptions,
  KernelHost,
  MimeBundle,
} from "./host/host.js";
export { InterruptError } from "./host/interrupt-error.js";
export { registerStage, type Stage, type StageOption } from "./contract/stage.js";
