export { homePath } from "./home-path.js";
export { namesIfThere, readIfThere } from "./read-if-there.js";
