import type * as node from "../../node/process/programs.js";

const refuse = (file: string): never => {
  throw new Error(`Cannot start ${file}: a browser tab starts no programs`);
};
export const spawn: typeof node.spawn = refuse;
export const spawnSync: typeof node.spawnSync = refuse;
export const ownProgram: typeof node.ownProgram = "tab";
export const knowsFlag: typeof node.knowsFlag = () => false;
export const endGroup: typeof node.endGroup = () => undefined;
