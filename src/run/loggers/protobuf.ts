// Protocol buffers as far as the loggers need them: each function gives the bytes of one field.

function varint(value: number): number[] {
  const out: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...out, rest];
    out.push((rest % 128) | 128);
  }
}

const tag = (number: number, type: number) => varint(number * 8 + type);

/** Bytes or a message. */
export function field(number: number, payload: Uint8Array | readonly number[]): number[] {
  return [...tag(number, 2), ...varint(payload.length), ...payload];
}

export const text = (number: number, value: string): number[] =>
  field(number, new TextEncoder().encode(value));

/** A whole number of at least 0. */
export const whole = (number: number, value: number): number[] => [
  ...tag(number, 0),
  ...varint(value),
];

/** A double (8 bytes) or a float (4). */
export function fixed(number: number, bytes: 4 | 8, value: number): number[] {
  const view = new DataView(new ArrayBuffer(bytes));
  if (bytes === 8) view.setFloat64(0, value, true);
  else view.setFloat32(0, value, true);
  return [...tag(number, bytes === 8 ? 1 : 5), ...new Uint8Array(view.buffer)];
}
