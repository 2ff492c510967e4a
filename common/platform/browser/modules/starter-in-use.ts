/** Who starts threads, where it is not the thread that needs them: hears what they are called and told. */
export const starter: { port?: MessagePort } = {};
