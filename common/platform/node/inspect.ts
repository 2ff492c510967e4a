import { inspect as nodeInspect, types } from "node:util";

/** How a value is written as text. */
interface InspectOptions {
  depth?: number;
  maxArrayLength?: number;
  maxStringLength?: number;
  breakLength?: number;
}

/** A value as text that a person reads. */
export const inspect: (value: unknown, options: InspectOptions) => string = nodeInspect;

export const isProxy: (value: unknown) => boolean = types.isProxy;
export const isPromise: (value: unknown) => value is Promise<unknown> = types.isPromise;
export const isModuleNamespace: (value: unknown) => boolean = types.isModuleNamespaceObject;
export const isBuffer: (value: unknown) => boolean = Buffer.isBuffer;
