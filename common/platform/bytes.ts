/** Bytes that no other process shares; TypeScript before 5.7 writes them without a parameter. */
export type Bytes = ReturnType<Uint8ArrayConstructor["of"]>;
