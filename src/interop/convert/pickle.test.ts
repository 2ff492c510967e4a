import assert from "node:assert/strict";
import { test } from "node:test";
import { PickleObject, unpickle } from "./pickle.js";
import { pickle } from "../../../tests/convert/torch-files.js";
import { torchGlobals, torchStorage } from "./torch-globals.js";

const { bytes, call, dict, global, int, list, none, object, text, tuple, u32, u64, whole } = pickle;
const read = (pickled: Buffer) =>
  unpickle(pickled, { globals: torchGlobals, persistent: torchStorage });

test("unpickle() reads what Python writes in protocols 2 to 5", () => {
  // pickle.dumps({"a": [1, -2, 300, 70000, 2**40, True, None, 1.5], "é": ("x", "yz")}, protocol)
  const classic =
    "AH1xAChYAQAAAGFxAV1xAihLAUr+////TSwBSnARAQCKBgAAAAAAAYhORz/4AAAAAAAAZVgCAAAAw6lxA1gBAAAAeHEEWAIAAAB5enEFhnEGdS4=";
  const framed =
    "AJU/AAAAAAAAAH2UKIwBYZRdlChLAUr+////TSwBSnARAQCKBgAAAAAAAYhORz/4AAAAAAAAZYwCw6mUjAF4lIwCeXqUhpR1Lg==";
  for (const protocol of [2, 3, 4, 5]) {
    const body = Buffer.from(protocol < 4 ? classic : framed, "base64").subarray(1);
    const value = read(bytes(0x80, protocol, body)) as Map<string, unknown>;
    assert.deepEqual(
      value,
      new Map<string, unknown>([
        ["a", [1, -2, 300, 70000, 2 ** 40, true, null, 1.5]],
        ["é", ["x", "yz"]],
      ]),
    );
    assert.ok(Object.isFrozen(value.get("é")), "a tuple");
    assert.ok(!Object.isFrozen(value.get("a")), "a list");
  }
  // pickle.dumps({"s": {1}, "f": frozenset([2]), "b": b"yz", "B": bytearray(b"q"), "n": -2**70}, 5)
  const rest = read(
    Buffer.from(
      "gAWVPwAAAAAAAAB9lCiMAXOUj5QoSwGQjAFmlChLApGUjAFilEMCeXqUjAFClJYBAAAAAAAAAHGUjAFulIoJAAAAAAAAAADAdS4=",
      "base64",
    ),
  ) as Map<string, unknown>;
  assert.deepEqual(rest.get("s"), new Set([1]));
  assert.deepEqual(rest.get("f"), new Set([2]));
  assert.deepEqual([...(rest.get("b") as Uint8Array)], [0x79, 0x7a]);
  assert.deepEqual([...(rest.get("B") as Uint8Array)], [0x71]);
  assert.equal(rest.get("n"), -(2n ** 70n));
});

test("unpickle() keeps names such as __proto__ as data", () => {
  const shard = global("torch.distributed.tensor.placement_types", "Shard");
  const made = read(whole(object(shard, dict({ constructor: int(2) }))));
  assert.ok(made instanceof PickleObject);
  assert.equal(made.constructor, PickleObject);
  assert.equal(made.state.get("constructor"), 2);
  const plain = read(whole(bytes("}", text("__proto__"), int(1), "s"))) as Map<string, unknown>;
  assert.equal(plain.get("__proto__"), 1);
});

test("unpickle() refuses every global outside its list, by name, whatever is done with it", () => {
  const names = [
    ["os", "system"],
    ["posix", "system"],
    ["nt", "system"],
    ["builtins", "eval"],
    ["builtins", "exec"],
    ["builtins", "getattr"],
    ["__builtin__", "apply"],
    ["subprocess", "Popen"],
    ["torch.hub", "load"],
    ["torch", "load"],
    ["torch.storage", "_load_from_bytes"],
    ["torch._utils", "_rebuild_tensor_v2.__globals__"],
    ["collections", "OrderedDict.fromkeys"],
    ["numpy.core.multiarray", "_reconstruct"],
    ["", ""],
    ["__proto__", "constructor"],
  ] as const;
  for (const [module, name] of names) {
    const refused = (error: Error) =>
      error instanceof TypeError &&
      error.message.endsWith(`got ${JSON.stringify(`${module}.${name}`)}`);
    const what = global(module, name);
    assert.throws(() => read(whole(what)), refused);
    assert.throws(() => read(whole(call(what, text("id")))), refused);
    assert.throws(() => read(whole(object(what))), refused);
    const stack = bytes(text(module), text(name), 0x93);
    assert.throws(() => read(whole(stack, 4)), refused);
    // Thrown away again, or deep in a chain of __reduce__: it is the naming that is refused.
    assert.throws(() => read(whole(bytes(what, "0", none))), refused);
    const chain = call(global("collections", "OrderedDict"), call(what, text("id")));
    assert.throws(() => read(whole(chain)), refused);
  }
});

test("unpickle() applies nothing but globals, each only as it is meant", () => {
  const cases: [Buffer, RegExp][] = [
    [
      bytes(text("os.system"), tuple(text("id")), "R"),
      /only a global can be applied, got "os.system"/,
    ],
    [bytes(dict({ name: text("x") }), tuple(), "R"), /only a global can be applied, got a dict/],
    [call(call(global("torch", "Size"), tuple(int(1))), int(1)), /only a global can be applied/],
    [call(global("torch", "FloatStorage"), int(1)), /torch.FloatStorage must be used as data/],
    [object(global("torch._utils", "_rebuild_tensor_v2")), /must be used as data, not by make/],
    [bytes(global("torch", "Size"), list(int(1)), "R"), /must be given a tuple, got a list of 1/],
    [call(global("collections", "OrderedDict"), list(tuple(int(1), int(2)))), /begin empty/],
    [
      bytes(global("torch", "float32"), dict({ call: int(1) }), "b"),
      /attributes must go to an object/,
    ],
    [bytes(int(1), "Q"), /must name a storage/],
    [
      call(global("torch._tensor", "_rebuild_from_type_v2"), text("x"), text("y"), tuple(), none),
      /class must be DTensor/,
    ],
    [
      call(global("torch.serialization", "_get_layout"), text("torch.sparse_coo")),
      /must be torch.strided/,
    ],
  ];
  for (const [value, expected] of cases) assert.throws(() => read(whole(value)), expected);
});

test("unpickle() refuses opcodes that need more than data", () => {
  const opcodes = {
    ...{ EXT1: bytes(0x82, 1), EXT2: bytes(0x83, 1, 0), EXT4: bytes(0x84, u32(1)) },
    ...{ INST: bytes("(ios\nsystem\n"), OBJ: bytes("(", int(1), "o"), PERSID: "Pid\n" },
    ...{ INT: "I1\n", GET: "g0\n", PUT: "p0\n", UNICODE: "Va\n", NEXT_BUFFER: bytes(0x97) },
    ...{ "0xff": bytes(0xff), "0x00": bytes(0) },
  };
  for (const [name, code] of Object.entries(opcodes)) {
    assert.throws(() => read(whole(bytes(code))), new RegExp(`describes data, got ${name} before`));
  }
});

test("unpickle() refuses a pickle cut anywhere", () => {
  const good = whole(bytes(dict({ a: list(int(1), text("xyz")), b: tuple(none, int(3)) })));
  assert.ok(read(good) instanceof Map);
  for (let length = 0; length < good.length; length++) {
    assert.throws(() => read(good.subarray(0, length)), SyntaxError, `${length} bytes`);
  }
});

test("unpickle() refuses lengths, memos and stacks that do not add up", () => {
  const cases: [Buffer, RegExp][] = [
    [bytes("X", u32(0xffffffff), "a"), /end early \(4294967295 more bytes\)/],
    [bytes(0x8d, u64(2 ** 53), "a"), /end early/],
    [bytes(0x95, u64(1000), "N"), /a frame must fit/],
    [bytes(0x8b, u32(1 << 30)), /at most 64 bytes/],
    [bytes("X", u32(1), 0xff), /UTF-8/],
    [bytes("h", 5), /written before it is read, got 5/],
    [bytes("j", u32(0xffffffff)), /written before it is read/],
    [bytes("q", 0), /the stack must hold a value, got nothing/],
    [bytes("(q", 0), /the stack must hold a value/],
    [bytes("t"), /must hold a mark, got none/],
    [bytes("(", int(1), int(2), int(3), "u"), /the stack must hold a value, got nothing/],
    [bytes("}(", int(1), "u"), /keys must have values/],
    [bytes(tuple(int(1)), int(2), "a"), /items must go to a list, got a tuple of 1/],
    [bytes(int(1), int(2)), /STOP must find one value, got 1 more/],
    [bytes(""), /the stack must hold a value, got none/],
  ];
  for (const [value, expected] of cases) assert.throws(() => read(whole(value)), expected);
  assert.throws(() => read(whole(none, 0)), /protocol must be 2, 3, 4 or 5, got 0/);
  assert.throws(() => read(whole(none, 6)), /protocol must be 2, 3, 4 or 5, got 6/);
});

test("unpickle() needs no memory beyond a pickle's length for bombs of memos", () => {
  // Lists of the list before, ten times each, a hundred deep: 10^100 items if anything unfolded them.
  let bomb = bytes("]q", 0);
  for (let i = 0; i < 100; i++)
    bomb = bytes(bomb, "0](", ...Array(10).fill(bytes("h", i)), "eq", i + 1);
  assert.equal((read(whole(bomb)) as unknown[]).length, 10);
  // In an error it is told in a few words.
  const device = bytes(bomb, "0", global("torch", "Size"), tuple(bytes("h", 100)), "R");
  assert.throws(
    () => read(whole(device)),
    /must be a tuple of numbers from 0 up, got a list of 10/,
  );
  // Itself inside itself.
  assert.ok(Array.isArray(read(whole(bytes("]q", 0, "h", 0, "a")))));
  // A memo far up costs nothing.
  assert.equal(read(whole(bytes("Nr", u32(0xfffffff0)))), null);
  // One large dict as the attributes of many objects.
  const large = dict(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, none])));
  const shard = global("torch.distributed.tensor.placement_types", "Shard");
  assert.throws(() => read(whole(object(shard, large))), /at most 100, got a dict of 101/);
});
