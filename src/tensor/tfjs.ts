import * as tf from "#tfjs";

export { tf };
