// A function's text is what a person wrote, without what the compiler added: it runs elsewhere, in a
// worker, in `vm` or by `new Function`. Kernel and cells see the same, so it is no cell's replacement.
import { asWritten } from "../contract/added.js";

const { apply, defineProperty } = Reflect;
const native = Function.prototype.toString;

// A method, for it must not be a constructor.
const { toString } = {
  toString(this: unknown): string {
    // Like any other of the engine's own functions.
    if (this === toString) return apply(native, native, []) as string;
    return asWritten(apply(native, this, []) as string);
  },
};

defineProperty(Function.prototype, "toString", {
  value: toString,
  writable: true,
  configurable: true,
});
