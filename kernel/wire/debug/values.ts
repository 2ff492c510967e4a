import type { Debugger, Runtime } from "node:inspector";
import type { CompilerClient } from "../../contract/compiler-client.js";
import type { DescribedValue } from "../../contract/debug.js";
import type { MainInspector } from "../process/main-inspector.js";
import type { Frames } from "./frames.js";
import {
  type CallFrame,
  type Json,
  Refusal,
  type RemoteObject,
  type Variable,
} from "./protocol.js";
import { argumentOf, type HeldValues, type Target, thrownText } from "./target.js";

/** What a `variablesReference` stands for. */
type Reference =
  | { kind: "scope"; group: string; call: CallFrame; scopes: Debugger.Scope[] }
  | { kind: "session"; group: string }
  | { kind: "inside"; group: string; objectId: string; index: number; access: string | undefined };

/** Values of a stop go when the program continues, those of the session when they are asked for anew. */
const STOP = "stop";
const SESSION = "session";
/** Milliseconds that a hover may take. */
const HOVER = 500;

/** What can be looked at, looked into, evaluated and changed. */
export class Values {
  readonly #inspector: MainInspector;
  readonly #compiler: CompilerClient;
  readonly #target: Target;
  readonly #references = new Map<number, Reference>();
  #last = 0;
  /** JupyterLab shows a value's type instead of it, unless the type is one of Python's, or is not told. */
  showsTypes = true;

  constructor(inspector: MainInspector, compiler: CompilerClient, target: Target) {
    this.#inspector = inspector;
    this.#compiler = compiler;
    this.#target = target;
  }

  /** Forgets what belongs to a stop. */
  async goOn(): Promise<void> {
    await this.#forget(STOP);
  }

  async close(): Promise<void> {
    await this.#forget(STOP);
    await this.#forget(SESSION);
  }

  scopes(call: CallFrame): Json[] {
    const { scopeChain } = call;
    const end = scopeChain.findIndex(({ type }) => type === "local");
    const locals = scopeChain.slice(0, end + 1);
    const isOuter = ({ type }: Debugger.Scope): boolean =>
      ["block", "closure", "module", "catch", "with"].includes(type);
    const closure = scopeChain.slice(end + 1).filter(isOuter);
    const found: Json[] = [this.#scope("Locals", "locals", call, locals)];
    if (closure.length > 0) found.push(this.#scope("Closure", "closure", call, closure));
    const session = this.#refer({ kind: "session", group: STOP });
    return [...found, { name: "Session", variablesReference: session, expensive: false }];
  }

  #scope(name: string, hint: string, call: CallFrame, scopes: Debugger.Scope[]): Json {
    const variablesReference = this.#refer({ kind: "scope", group: STOP, call, scopes });
    return { name, presentationHint: hint, variablesReference, expensive: false };
  }

  /** The variables behind a reference; of elements, `count` from `start`. */
  async variables({ variablesReference, filter, start, count }: Json): Promise<Variable[]> {
    const reference = this.#reference(variablesReference);
    const { group } = reference;
    switch (reference.kind) {
      case "scope": {
        const objects = reference.scopes.map(({ object }) => argumentOf(object));
        return this.#list(group, await this.#target.hold(group, "scope", ...objects));
      }
      case "session":
        return this.#list(group, await this.#target.hold(group, "session"));
      case "inside": {
        const { objectId, index, access } = reference;
        const held = await this.#target.hold(
          group,
          "inside",
          { objectId },
          { value: index },
          { value: filter ?? "" },
          { value: start ?? 0 },
          { value: count ?? 0 },
        );
        return this.#list(group, held, access);
      }
    }
  }

  /** The session's variables, also while it runs. */
  async session(): Promise<Variable[]> {
    await this.#forget(SESSION);
    return this.#list(SESSION, await this.#target.hold(SESSION, "session"));
  }

  /** Evaluates where a frame is, or in the session. */
  async evaluate(
    expression: string,
    frames: Frames | undefined,
    frameId: number | undefined,
    context: string,
  ): Promise<RemoteObject> {
    const made = await this.#compiler.call("debugCode", expression, frames?.fileOf(frameId));
    if (!made.ok) throw new Refusal(made.message);
    const call = frames?.call(frameId);
    const isHover = context === "hover";
    await this.#target.call("expose", { value: made.names });
    try {
      const options = {
        expression: made.js,
        objectGroup: call === undefined ? SESSION : STOP,
        silent: true,
        ...(call === undefined && { disableBreaks: true }),
        ...(isHover && { throwOnSideEffect: true, timeout: HOVER }),
      };
      const { result, exceptionDetails } =
        call === undefined
          ? await this.#inspector.post<Runtime.EvaluateReturnType>("Runtime.evaluate", options)
          : await this.#inspector.post<Debugger.EvaluateOnCallFrameReturnType>(
              "Debugger.evaluateOnCallFrame",
              { callFrameId: call.callFrameId, ...options },
            );
      if (exceptionDetails !== undefined) throw new Refusal(thrownText(exceptionDetails));
      return result;
    } finally {
      await this.#target.call("hide");
    }
  }

  /** As a cell would show it. */
  async rich(value: RemoteObject, canWait: boolean): Promise<Json> {
    const args = [argumentOf(value), { value: canWait }];
    // A thread that stands settles no promise, not even one that is settled.
    return canWait
      ? await this.#target.wait<Json>("rich", ...args)
      : await this.#target.call<Json>("rich", ...args);
  }

  /** Gives the session a variable. */
  async declare(name: string, value: RemoteObject): Promise<void> {
    await this.#target.call("declare", { value: name }, argumentOf(value));
  }

  /** A value as a variable without a name. */
  async show(value: RemoteObject, name: string, isStopped: boolean): Promise<Variable> {
    const group = isStopped ? STOP : SESSION;
    const held = await this.#target.hold(group, "hold", { value: name }, argumentOf(value));
    return this.#list(group, held)[0]!;
  }

  /** Sets a variable, a property or an element. */
  async set(
    { variablesReference, name, value }: Json,
    frames: Frames | undefined,
  ): Promise<Variable> {
    const reference = this.#reference(variablesReference);
    const call = reference.kind === "scope" ? reference.call : undefined;
    const found = await this.#evaluateIn(String(value), frames, call);
    const argument = argumentOf(found);
    const key = { value: String(name) };
    const { group } = reference;
    if (reference.kind === "session") {
      return this.#list(group, await this.#target.hold(group, "assignSession", key, argument))[0]!;
    }
    if (reference.kind === "inside") {
      const owner = [{ objectId: reference.objectId }, { value: reference.index }];
      const held = await this.#target.hold(group, "assign", ...owner, key, argument);
      return this.#list(group, held)[0]!;
    }
    await this.#setInScope(reference, String(name), found);
    return await this.show(found, String(name), true);
  }

  async #evaluateIn(
    text: string,
    frames: Frames | undefined,
    call: CallFrame | undefined,
  ): Promise<RemoteObject> {
    const frame = frames?.list.find(({ id }) => !frames.waits(id) && frames.call(id) === call);
    return await this.evaluate(text, frames, frame?.id, "repl");
  }

  async #setInScope(
    { call, scopes }: Extract<Reference, { kind: "scope" }>,
    variableName: string,
    value: RemoteObject,
  ): Promise<void> {
    for (const scope of scopes) {
      const { result } = await this.#inspector.post<Runtime.GetPropertiesReturnType>(
        "Runtime.getProperties",
        { objectId: scope.object.objectId, ownProperties: true },
      );
      if (!result.some(({ name }) => name === variableName)) continue;
      await this.#inspector.post("Debugger.setVariableValue", {
        scopeNumber: call.scopeChain.indexOf(scope),
        variableName,
        newValue: argumentOf(value),
        callFrameId: call.callFrameId,
      });
      return;
    }
    throw new Refusal(`Cannot set ${variableName}: there is no such variable here`);
  }

  #list(group: string, { objectId, described }: HeldValues, owner = ""): Variable[] {
    return described.map((one, index) => this.#variable(group, objectId, one, index, owner));
  }

  #variable(
    group: string,
    objectId: string,
    one: DescribedValue,
    index: number,
    owner: string,
  ): Variable {
    const { name, value, type, named, indexed, lazy } = one;
    const access = one.access === undefined ? undefined : owner + one.access;
    const isOpen = named + indexed > 0;
    const inside: Reference = { kind: "inside", group, objectId, index, access };
    return {
      name,
      value,
      ...(this.showsTypes && { type }),
      variablesReference: isOpen ? this.#refer(inside) : 0,
      ...(access !== undefined && { evaluateName: access }),
      ...(named > 0 && { namedVariables: named }),
      ...(indexed > 0 && { indexedVariables: indexed }),
      ...(lazy === true && { presentationHint: { lazy: true } }),
      ...(one.group !== "" && { group: one.group }),
    };
  }

  #refer(reference: Reference): number {
    this.#references.set(++this.#last, reference);
    return this.#last;
  }

  #reference(number: unknown): Reference {
    const found = this.#references.get(Number(number));
    if (found !== undefined) return found;
    throw new Refusal(`Cannot look at variables ${String(number)}: the program has gone on since`);
  }

  async #forget(group: string): Promise<void> {
    for (const [number, reference] of this.#references) {
      if (reference.group === group) this.#references.delete(number);
    }
    await this.#target.release(group);
  }
}
