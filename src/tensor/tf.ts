import { registerBackends } from "./backends.js";
import { tf } from "./tfjs.js";

registerBackends();

export { tf };
