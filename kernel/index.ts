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
