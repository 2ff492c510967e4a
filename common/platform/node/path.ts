export { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
