// A bundle holds them all: there is nothing to put off. So only who uses one imports this file.
import * as jinjaPackage from "@huggingface/jinja";
import * as tokenizersPackage from "@huggingface/tokenizers";
import * as lruPackage from "lru-cache";
import * as sqlitePackage from "#sqlite";
import type * as node from "../node/packages.js";

export const tokenizers: typeof node.tokenizers = () => tokenizersPackage;
export const jinja: typeof node.jinja = () => jinjaPackage;
export const lruCache: typeof node.lruCache = () => lruPackage;
export const sqlite: typeof node.sqlite = () => sqlitePackage;
