// A language model that says nonsense, small enough to be written by a test: random weights in GGUF
// (github.com/ggml-org/ggml/blob/master/docs/gguf.md), of llama's architecture, with one token for each byte.

const width = 64;
const hidden = 128;
const heads = 4;
const trainedFor = 4_096;

type Value = { type: number; bytes: Buffer };
const [uint32, int32, float32, string, array] = [4, 5, 6, 8, 9];

const number32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};
const decimal32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
};
const length64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string) => Buffer.concat([length64(Buffer.byteLength(value)), Buffer.from(value)]);
const whole = (value: number): Value => ({ type: uint32, bytes: number32(value) });
const decimal = (value: number): Value => ({ type: float32, bytes: decimal32(value) });
const word = (value: string): Value => ({ type: string, bytes: text(value) });
const list = (type: number, items: Buffer[]): Value => ({
  type: array,
  bytes: Buffer.concat([number32(type), length64(items.length), ...items]),
});

// SentencePiece's kinds of token: 2 is unknown, 3 controls, 6 is a byte, 1 is an ordinary one.
const tokens = [
  { text: "<unk>", kind: 2 },
  { text: "<s>", kind: 3 },
  { text: "</s>", kind: 3 },
  ...Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
    kind: 6,
  })),
  ...[" ", "la", "el", "que", "casa", "río", "sol"].map((said) => ({ text: said.replace(" ", "\u2581"), kind: 1 })),
];

const metadata: Record<string, Value> = {
  "general.architecture": word("llama"),
  "general.name": word("diminuto"),
  "llama.context_length": whole(trainedFor),
  "llama.embedding_length": whole(width),
  "llama.block_count": whole(1),
  "llama.feed_forward_length": whole(hidden),
  "llama.attention.head_count": whole(heads),
  "llama.attention.layer_norm_rms_epsilon": decimal(1e-5),
  "llama.rope.dimension_count": whole(width / heads),
  "llama.vocab_size": whole(tokens.length),
  "tokenizer.ggml.model": word("llama"),
  "tokenizer.ggml.tokens": list(
    string,
    tokens.map((token) => text(token.text)),
  ),
  "tokenizer.ggml.scores": list(
    float32,
    tokens.map((_, index) => decimal32(-index)),
  ),
  "tokenizer.ggml.token_type": list(
    int32,
    tokens.map(({ kind }) => number32(kind)),
  ),
  "tokenizer.ggml.bos_token_id": whole(1),
  "tokenizer.ggml.eos_token_id": whole(2),
  "tokenizer.ggml.unknown_token_id": whole(0),
};

const shapes: Record<string, number[]> = {
  "token_embd.weight": [width, tokens.length],
  "output_norm.weight": [width],
  "output.weight": [width, tokens.length],
  "blk.0.attn_norm.weight": [width],
  "blk.0.attn_q.weight": [width, width],
  "blk.0.attn_k.weight": [width, width],
  "blk.0.attn_v.weight": [width, width],
  "blk.0.attn_output.weight": [width, width],
  "blk.0.ffn_norm.weight": [width],
  "blk.0.ffn_gate.weight": [width, hidden],
  "blk.0.ffn_up.weight": [width, hidden],
  "blk.0.ffn_down.weight": [hidden, width],
};

/** The bytes of a model file. The weights are the same each time. */
export function tinyModel(): Buffer {
  const values = Object.entries(metadata).map(([key, { type, bytes }]) =>
    Buffer.concat([text(key), number32(type), bytes]),
  );
  const tensors: Buffer[] = [];
  const infos: Buffer[] = [];
  let offset = 0;
  for (const [name, shape] of Object.entries(shapes)) {
    const weights = shape.length === 1 ? ones(shape) : random(shape);
    infos.push(
      Buffer.concat([text(name), number32(shape.length), ...shape.map(length64), number32(0), length64(offset)]),
    );
    tensors.push(weights);
    offset += weights.length;
  }
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    number32(3),
    length64(infos.length),
    length64(values.length),
    ...values,
    ...infos,
  ]);
  // Every tensor begins at a multiple of 32 bytes; all of these are that long.
  return Buffer.concat([head, Buffer.alloc((32 - (head.length % 32)) % 32), ...tensors]);
}

const sizeOf = (shape: number[]) => shape.reduce((product, side) => product * side, 1);
const ones = (shape: number[]) => Buffer.from(new Float32Array(sizeOf(shape)).fill(1).buffer);

let seed = 1;
/** Numbers between -0.1 and 0.1, by a linear congruential generator (Numerical Recipes' constants). */
function random(shape: number[]): Buffer {
  const weights = new Float32Array(sizeOf(shape)).map(() => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed / 2 ** 32 - 0.5) / 5;
  });
  return Buffer.from(weights.buffer);
}
