import { decoderSuite, plainVariants } from "../../../tests/model/decoder-suite.js";
import { ready } from "../../tensor/backends.js";
import "../../tensor/tf.js"; // which has the backends
import { engineProducts } from "./engine-products.js";
import { PlainDecoder } from "./plain.js";

await ready();
decoderSuite("PlainDecoder", (shape, source) => new PlainDecoder(shape, source), plainVariants);

const products = engineProducts();
if (products) {
  decoderSuite(
    "PlainDecoder with the engine's products",
    (shape, source) => new PlainDecoder(shape, source, "float32", products),
    plainVariants,
  );
}
