import { labOnNode, shellWord } from "../../travel/lab-on-node.js";

/** `beside.sh SOCKET` of a job folder: starts what serves a worker of verl. `lab` says how this package is there. */
export const besideScript = (lab: string): string => `#!/bin/sh
# The TypeScript tools and rewards of this folder for one worker of verl, which listens at a socket: sh beside.sh SOCKET
set -eu
case $0 in */*) cd "\${0%/*}" ;; esac
here=$(pwd)
lab=${shellWord(lab)}
${labOnNode}run_lab beside "$here" "$1"
`;
