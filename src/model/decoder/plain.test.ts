import { decoderSuite, plainVariants } from "../../../tests/model/decoder-suite.js";
import { PlainDecoder } from "./plain.js";

decoderSuite("PlainDecoder", (shape, source) => new PlainDecoder(shape, source), plainVariants);
