import { inMemory } from "../spool.ts";
import { expect, test } from "vitest";
import { encodeFrame, FrameReader } from "#extract/frames.ts";
import { decodeResult, encodeResult } from "#extract/wire.ts";
import type { Extracted } from "#extract/extractor.ts";

const RESULT: Extracted<Uint8Array> = {
  state: "ok",
  text: "# Mail\n\nSee the attachment.",
  reader: "text/markdown",
  mimeType: "message/rfc822",
  sections: [
    { name: "Mail", level: 1, start: 0 },
    { name: "Page 2", level: 2, start: 8, kind: "page", ref: "2" },
  ],
  properties: { author: ["Ana", "Bo"], pages: 12, draft: false, status: "x" },
  maskedSecrets: 2,
  children: [
    { id: "1/a.txt", fileName: "a.txt", mimeType: "text/plain", bytes: new Uint8Array([104, 105]) },
    { id: "2/empty", fileName: "empty", bytes: new Uint8Array() },
  ],
  analyzed: { terms: "mail", weights: new Uint8Array([3]), length: 3 },
};

test("A result comes out of the pipe as it went in, with the files inside it", () => {
  const [frame] = new FrameReader().push(Buffer.concat(encodeResult(RESULT)));
  const decoded = decodeResult(frame ?? { head: null, bodies: [] });
  expect({ ...decoded, children: undefined }).toEqual({ ...RESULT, children: undefined });
  const children = decoded.state === "ok" ? decoded.children : undefined;
  expect(children?.map((part) => ({ ...part, bytes: [...inMemory(part.bytes)] }))).toEqual(
    RESULT.children?.map((part) => ({ ...part, bytes: [...part.bytes] })),
  );
});

test("A child that announces more files than it sends is not believed", () => {
  const head = {
    state: "ok",
    mimeType: "a/b",
    sections: [],
    properties: {},
    maskedSecrets: 0,
    length: 0,
    children: [{ id: "1" }],
  };
  const [frame] = new FrameReader().push(
    Buffer.concat(encodeFrame(head, [Buffer.from("x"), Buffer.from(""), Buffer.from("")])),
  );
  expect(() => decodeResult(frame ?? { head: null, bodies: [] })).toThrow("parts do not match");
});

test("A child whose properties are no values of fields is not believed", () => {
  const decodedWith = (properties: unknown) => {
    const head = { state: "ok", mimeType: "a/b", sections: [], properties, maskedSecrets: 0, length: 0, children: [] };
    const frame = encodeFrame(head, [Buffer.from("x"), Buffer.from(""), Buffer.from("")]);
    return () => decodeResult(new FrameReader().push(Buffer.concat(frame))[0] ?? { head: null, bodies: [] });
  };
  for (const value of [null, { a: 1 }, ["x", 1], [["x"]]]) expect(decodedWith({ value })).toThrow("not a string");
  expect(decodedWith({ value: ["x"], pages: 1 })).not.toThrow();
});
