/** What an operation costs, and what the machine could do. Experimental: may change in any release. */

export {
  measureMachine,
  type MachineLimits,
  type MeasureOptions,
} from "../../tensor/profile/machine.js";
export {
  profile,
  Profile,
  type ProfiledOperation,
  type ProfileOptions,
} from "../../tensor/profile/profile.js";
