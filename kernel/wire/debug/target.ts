import type { Runtime } from "node:inspector";
import { DEBUG_TARGET, type DescribedValue } from "../../contract/debug.js";
import type { MainInspector } from "../process/main-inspector.js";
import { Refusal, type RemoteObject } from "./protocol.js";

/** A value of the other thread as it goes into a call there. */
type Argument = Runtime.CallArgument;

/** Values that the other thread keeps for us, in a line each. */
export interface HeldValues {
  objectId: string;
  described: DescribedValue[];
}

export function argumentOf({ objectId, value, unserializableValue }: RemoteObject): Argument {
  if (objectId !== undefined) return { objectId };
  return unserializableValue === undefined ? { value: value as unknown } : { unserializableValue };
}

/** What was thrown, as a line. */
export function thrownText({ exception, text }: Runtime.ExceptionDetails): string {
  const said = exception?.description ?? (exception && String(exception.value)) ?? text;
  return said.split("\n    at ")[0]!;
}

/** kernel/run/debug/target.ts, from here: called through the inspector. */
export class Target {
  readonly #inspector: MainInspector;
  #objectId: string | undefined;

  constructor(inspector: MainInspector) {
    this.#inspector = inspector;
  }

  /** Calls a method; its value is copied. */
  async call<Result = unknown>(method: string, ...args: Argument[]): Promise<Result> {
    return (await this.#call(method, args, { returnByValue: true })).value as Result;
  }

  async wait<Result = unknown>(method: string, ...args: Argument[]): Promise<Result> {
    const options = { returnByValue: true, awaitPromise: true };
    return (await this.#call(method, args, options)).value as Result;
  }

  /** A method's value, kept there until its group is released. */
  async keep(group: string, method: string, ...args: Argument[]): Promise<RemoteObject> {
    return await this.#call(method, args, { objectGroup: group });
  }

  /** The same of a method that gives values to look into. */
  async hold(group: string, method: string, ...args: Argument[]): Promise<HeldValues> {
    const { objectId } = await this.keep(group, method, ...args);
    if (objectId === undefined) throw new Refusal(`Cannot look: ${method} gave nothing`);
    const { result } = await this.#inspector.post<Runtime.CallFunctionOnReturnType>(
      "Runtime.callFunctionOn",
      {
        objectId,
        functionDeclaration: "function () { return this.described }",
        returnByValue: true,
      },
    );
    return { objectId, described: result.value as DescribedValue[] };
  }

  async release(group: string): Promise<void> {
    await this.#inspector.post("Runtime.releaseObjectGroup", { objectGroup: group });
  }

  async #call(method: string, args: Argument[], options: object): Promise<RemoteObject> {
    const { result, exceptionDetails } =
      await this.#inspector.post<Runtime.CallFunctionOnReturnType>("Runtime.callFunctionOn", {
        objectId: await this.#id(),
        functionDeclaration: "function (method, ...args) { return this[method](...args) }",
        arguments: [{ value: method }, ...args],
        ...options,
      });
    if (exceptionDetails !== undefined) throw new Refusal(thrownText(exceptionDetails));
    return result;
  }

  async #id(): Promise<string> {
    if (this.#objectId !== undefined) return this.#objectId;
    const { result } = await this.#inspector.post<Runtime.EvaluateReturnType>("Runtime.evaluate", {
      expression: `globalThis[Symbol.for(${JSON.stringify(DEBUG_TARGET)})]`,
      objectGroup: "target",
    });
    if (result.objectId === undefined) throw new Refusal("Cannot debug: the kernel is starting");
    return (this.#objectId = result.objectId);
  }
}
