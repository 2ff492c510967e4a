import { environment } from "../../../../common/platform/browser/process.js";
import { mountSite } from "../../../../common/platform/browser/site/mount.js";
import { here } from "../../../../common/platform/browser/in-use.js";
import { shareData } from "../files/share-data.js";
import { SharedFiles } from "../files/shared-files.js";
import type { Place } from "./thread-data.js";

/** Gives a thread its files and its environment. */
export function openPlace(place: Place, folder: string, files: MessagePort): SharedFiles {
  mountSite(place.base, place.site);
  shareData();
  Object.assign(environment, place.environment);
  here.folder = folder;
  const shared = new SharedFiles();
  shared.add(files);
  return shared;
}
