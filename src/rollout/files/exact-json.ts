/** JSON that keeps what JSON has no words for: NaN, the infinities and -0. */
interface NamedNumber {
  $number: string;
}

const unsayable = (x: number) => !Number.isFinite(x) || Object.is(x, -0);
const nameOf = (x: number) => (Object.is(x, -0) ? "-0" : String(x));

/** The shortest decimal that is read back as the same 32-bit float. */
function shortest(x: number): number | string {
  if (unsayable(x)) return nameOf(x);
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(x.toPrecision(digits));
    if (Math.fround(short) === x) return short;
  }
  return Number(x.toPrecision(9));
}

/** Text of a plain value; typed arrays become lists. */
export function toExactJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (item instanceof Float32Array) return Array.from(item, shortest);
    if (ArrayBuffer.isView(item)) return Array.from(item as Uint8Array);
    if (typeof item === "number" && unsayable(item)) return { $number: nameOf(item) };
    return item;
  });
}

/** The value of such a text; lists stay lists. */
export function fromExactJson(text: string): unknown {
  return JSON.parse(text, (_, item: unknown) =>
    isNamed(item) ? Number(item.$number) : item,
  ) as unknown;
}

function isNamed(item: unknown): item is NamedNumber {
  return (
    typeof item === "object" &&
    item !== null &&
    typeof (item as Partial<NamedNumber>).$number === "string"
  );
}

/** A list written from a Float32Array. */
export function exactFloats(list: ArrayLike<number | string>): Float32Array {
  return Float32Array.from(list, Number);
}
