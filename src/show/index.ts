export { registerShow, showAs, type Show, type Shown } from "./show-as.js";
export { registerWatch, watchAs, type LiveShow, type Watch } from "./watch-as.js";
