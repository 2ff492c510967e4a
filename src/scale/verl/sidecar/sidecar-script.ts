import { labOnNode, shellWord } from "../../upload/lab-on-node.js";

/** `sidecar.sh SOCKET` of a job folder: starts what serves a worker of verl. `lab` says how this package is there. */
export const sidecarScript = (lab: string): string => `#!/bin/sh
# The TypeScript tools and rewards of this folder for one worker of verl, which listens at a socket: sh sidecar.sh SOCKET
set -eu
case $0 in */*) cd "\${0%/*}" ;; esac
here=$(pwd)
lab=${shellWord(lab)}
${labOnNode}run_lab sidecar "$here" "$1"
`;
