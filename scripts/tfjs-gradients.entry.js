// tfjs-core's Node bundle leaves out the gradients and the chained methods (`x.add(y)`), and Node
// cannot import the ES modules that hold them. Bundled by scripts/build.mjs into dist/vendor; both
// copies share tfjs's one global engine and registry, as tfjs intends.
import "@tensorflow/tfjs-core/dist/register_all_gradients.js";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js";
