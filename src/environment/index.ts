export {
  makeEnvironment,
  type Environment,
  type EnvironmentMethod,
  type EnvironmentSource,
  type EnvironmentStart,
  type EpisodeEnd,
  type EpisodeScore,
} from "./environment.js";
export { httpEnvironment, type HttpEnvironmentOptions } from "./http-environment.js";
