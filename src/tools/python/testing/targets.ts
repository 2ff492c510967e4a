/** Where an escape would show: a file to read, a file to write, a port to reach, a variable to see. */
export interface Targets {
  /** A file outside that holds the secret. */
  secretFile: string;
  /** A path outside that nothing may create. */
  markerFile: string;
  /** A port of this machine on which somebody counts visitors. */
  port: number;
  /** A socket's file, and an abstract name, at which visitors are counted too. */
  socketFile: string;
  /** A process outside that must live on. */
  pid: number;
}
