/** The reason of an abort that keeps the trees that are complete. */
export class Enough extends Error {}
