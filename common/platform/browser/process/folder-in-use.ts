/** Where relative paths begin: the folder of a notebook, in the thread of its cells. */
export const here = { folder: "/" };
