import { inMemory, SPOOL } from "../../spool.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isApiError } from "#api/errors.ts";
import { type FormPart, readForm } from "#sources/push/multipart.ts";

const CRLF = "\r\n";

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function formOf(parts: readonly { headers: string; bytes: Uint8Array }[], boundary: string): Buffer {
  const pieces = parts.flatMap(({ headers, bytes }) => [
    Buffer.from(`--${boundary}${CRLF}${headers}${CRLF}${CRLF}`),
    bytes,
    Buffer.from(CRLF),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--${CRLF}`)]);
}

async function read(
  bytes: Uint8Array,
  contentType: string | undefined,
  sizes = [1_000],
  max = 1_000_000,
): Promise<FormPart[]> {
  const found: FormPart[] = [];
  const maxBytesOf = (name: string) => (name === "other" ? undefined : max);
  for await (const part of readForm(cut(bytes, sizes), { contentType, maxBytesOf, spool: SPOOL })) found.push(part);
  return found;
}

const named = (name: string, more = "") => `Content-Disposition: form-data; name="${name}"${more}`;

describe("a form", () => {
  test("gives the bytes of its parts whole, however it is cut and whatever they hold", async () => {
    const almost = fc.constantFrom("\r\n", "\r\n--", "--b", "\r\n--b", "\r", "\n--b--", "\r\n--bound");
    const content = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        almost.map((text) => Buffer.from(text)),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(content, { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
        async (contents, sizes) => {
          const wanted = contents
            .map((pieces) => Buffer.concat(pieces))
            .filter((bytes) => !bytes.includes(`${CRLF}--boundary-x`));
          const form = formOf(
            wanted.map((bytes) => ({ headers: named("file"), bytes })),
            "boundary-x",
          );
          const parts = await read(form, "multipart/form-data; boundary=boundary-x", sizes);
          expect(parts.map((part) => Buffer.from(inMemory(part.bytes)))).toEqual(wanted);
        },
      ),
      { numRuns: 200 },
    );
  });

  test.for([
    [named("file", '; filename="a \\"b\\".pdf"'), 'a "b".pdf'],
    [named("file", "; filename=C:\\docs\\a.pdf"), "a.pdf"],
    [named("file", '; filename="../../etc/passwd"'), "passwd"],
    [named("file", "; filename=\"x\"; filename*=UTF-8''na%C3%AFve.txt"), "naïve.txt"],
    [named("file", "; filename=\"x.txt\"; filename*=UTF-8''%E0%A4%A"), "x.txt"],
    [named("file"), undefined],
  ] as const)("names its file: %s", async ([headers, fileName]) => {
    const [part] = await read(formOf([{ headers, bytes: Buffer.from("x") }], "b"), 'multipart/form-data; boundary="b"');
    expect(part?.fileName).toBe(fileName);
  });

  test.for([
    ["no type", undefined, "", "unsupported_media_type"],
    ["another type", "multipart/mixed; boundary=b", "", "unsupported_media_type"],
    ["no boundary", "multipart/form-data", "", "unsupported_media_type"],
    ["an empty body", "multipart/form-data; boundary=b", "", "invalid_request"],
    ["no end", "multipart/form-data; boundary=b", `--b${CRLF}${named("file")}${CRLF}${CRLF}x`, "invalid_request"],
    ["junk after a boundary", "multipart/form-data; boundary=b", `--bjunk${CRLF}`, "invalid_request"],
    [
      "a part without a name",
      "multipart/form-data; boundary=b",
      `--b${CRLF}X: y${CRLF}${CRLF}x${CRLF}--b--`,
      "invalid_request",
    ],
    ["headers without an end", "multipart/form-data; boundary=b", `--b${CRLF}${"x".repeat(9_000)}`, "invalid_request"],
    [
      "a part that it may not have",
      "multipart/form-data; boundary=b",
      `--b${CRLF}${named("other")}${CRLF}${CRLF}x${CRLF}--b--`,
      "invalid_request",
    ],
    [
      "a part that is too large",
      "multipart/form-data; boundary=b",
      `--b${CRLF}${named("file")}${CRLF}${CRLF}${"x".repeat(20)}`,
      "payload_too_large",
    ],
  ] as const)("with %s is refused", async ([, contentType, body, code]) => {
    const failure = await read(Buffer.from(body), contentType, [7], 10).catch((error: unknown) => error);
    expect(isApiError(failure) && failure.code).toBe(code);
  });

  test("that never ends is not read on once a part is too large", async () => {
    let read = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`--b${CRLF}${named("file")}${CRLF}${CRLF}`);
      for (;;) {
        read += 1;
        yield Buffer.alloc(1_000);
      }
    }
    const options = { contentType: "multipart/form-data; boundary=b", maxBytesOf: () => 10_000, spool: SPOOL };
    const failure = await readForm(endless(), options)
      .next()
      .catch((error: unknown) => error);
    expect(isApiError(failure, "payload_too_large")).toBe(true);
    expect(read).toBeLessThan(15);
  });
});
