/** Globals that ECMAScript defines, as far as engines have them; a worker's other globals are taken away. */
export const language: ReadonlySet<string> = new Set(
  (
    "globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent " +
    "encodeURI encodeURIComponent escape unescape Object Function Boolean Symbol Error AggregateError " +
    "EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError Number BigInt Math Date " +
    "String RegExp Array Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array " +
    "BigInt64Array BigUint64Array Float16Array Float32Array Float64Array Map Set WeakMap WeakSet WeakRef " +
    "FinalizationRegistry ArrayBuffer SharedArrayBuffer DataView Atomics JSON Promise Proxy Reflect Iterator " +
    "Intl WebAssembly DisposableStack AsyncDisposableStack Temporal"
  ).split(" "),
);
