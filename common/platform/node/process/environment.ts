/** The variables of the environment, as they are when they are read. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;
