/** The top folders of product code. */
export const sourceRoots = ["common", "src", "kernel", "apps", "notebooks/exercises"];
