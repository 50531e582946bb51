import * as fc from "fast-check";
import { test } from "vitest";
import { makeFrameReader, parseFrame, toLine } from "#bridge/frames.ts";

function read(chunks: readonly Uint8Array[], maxBytes?: number): { lines: string[]; tooLong: number } {
  const lines: string[] = [];
  let tooLong = 0;
  const reader = makeFrameReader(
    (line) => lines.push(line),
    () => (tooLong += 1),
    maxBytes,
  );
  for (const chunk of chunks) reader.push(chunk);
  return { lines, tooLong };
}

test("lines come out whole however the bytes are cut", ({ expect }) => {
  const texts = fc.array(fc.string({ unit: "grapheme", minLength: 1 }).map((text) => JSON.stringify(text)));
  fc.assert(
    fc.property(texts, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const chunks: Buffer[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      expect(read(chunks).lines).toEqual(lines);
    }),
  );
});

test("blank lines and carriage returns are no frames", ({ expect }) => {
  expect(read([Buffer.from('\n\r\n{"a":1}\r\n  \n')]).lines).toEqual(['{"a":1}']);
});

test("a line without its end is not a frame yet", ({ expect }) => {
  expect(read([Buffer.from('{"a":')]).lines).toEqual([]);
});

test("an 8 MB line in small pieces is read in a moment", ({ expect }) => {
  const line = JSON.stringify("x".repeat(8_000_000));
  const bytes = Buffer.from(`${line}\n`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
    bytes.subarray(at * 65_536, (at + 1) * 65_536),
  );
  expect(read(chunks).lines).toEqual([line]);
});

test("a line over the limit is dropped once, and the next one is read", ({ expect }) => {
  const chunks = ["aaaa", "aaaa", "aaaa\n", '{"b":2}\n'].map((text) => Buffer.from(text));
  expect(read(chunks, 8)).toEqual({ lines: ['{"b":2}'], tooLong: 1 });
});

test.for([
  ["not json", "{nope", { type: "invalid", id: null, code: -32700 }],
  ["a number", "3", { type: "invalid", id: null, code: -32600 }],
  ["no jsonrpc", '{"id":1,"method":"ping"}', { type: "invalid", id: 1, code: -32600 }],
  ["a null id", '{"jsonrpc":"2.0","id":null,"method":"ping"}', { type: "invalid", id: null, code: -32600 }],
  ["no method", '{"jsonrpc":"2.0","id":"a"}', { type: "invalid", id: "a", code: -32600 }],
  ["params as a list", '{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}', { type: "invalid", id: 1, code: -32600 }],
  ["params that are null", '{"jsonrpc":"2.0","id":1,"method":"m","params":null}', { type: "request", params: {} }],
  [
    "a notification with wrong params",
    '{"jsonrpc":"2.0","method":"n","params":[1]}',
    { type: "notification", params: {} },
  ],
  ["a notification with text", '{"jsonrpc":"2.0","method":"n","params":"x"}', { type: "notification", params: {} }],
  ["a large id", '{"jsonrpc":"2.0","id":9223372036854775807,"method":"m"}', { idText: "9223372036854775807" }],
  ["a wrong message's large id", '{"id":-9223372036854775807}', { type: "invalid", idText: "-9223372036854775807" }],
  ["an empty batch", "[]", { type: "invalid", id: null, code: -32600 }],
  ["a request", '{"jsonrpc":"2.0","id":0,"method":"ping"}', { type: "request", id: 0, method: "ping", params: {} }],
  ["a notification", '{"jsonrpc":"2.0","method":"n"}', { type: "notification", method: "n" }],
  ["an answer", '{"jsonrpc":"2.0","id":1,"result":{}}', { type: "response" }],
] as const)("%s is told apart", ([, line, expected], { expect }) => {
  expect(parseFrame(line)).toMatchObject(expected);
});

test("an answer with line breaks between its tokens becomes one line of the same value", ({ expect }) => {
  const value = { a: "x\ny", b: [1, { c: null }] };
  const line = toLine(JSON.stringify(value, null, 2));
  expect(line).not.toMatch(/[\r\n]/);
  expect(JSON.parse(line)).toEqual(value);
});
