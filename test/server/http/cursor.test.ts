import * as fc from "fast-check";
import { describe, test } from "vitest";
import { ID_ALPHABET } from "#api/common.ts";
import { makeCursorCodec, type CursorScope } from "#server/http/cursor.ts";
import { makeTestClock } from "../../helpers.ts";

const DAY_MS = 86_400_000;
const scope: CursorScope = {
  workspaceId: "wsp_1",
  userId: "usr_1",
  route: "kb_search",
  args: { query: "q3", kind: "task" },
};
const id = fc.array(fc.constantFrom(...ID_ALPHABET), { minLength: 16, maxLength: 16 }).map((chars) => chars.join(""));
const position = fc.record({
  flags: fc.integer({ min: 0, max: 255 }),
  value: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  id,
});
const makeCodec = (clock = makeTestClock()) => makeCursorCodec(Buffer.alloc(32, 1), clock);

describe("a cursor", () => {
  test("is 28 base64url characters and gives back its position", ({ expect }) => {
    const codec = makeCodec();
    fc.assert(
      fc.property(position, (at) => {
        const cursor = codec.encode(scope, at);
        expect(cursor).toMatch(/^[\w-]{28}$/);
        expect(codec.decode(scope, cursor)).toEqual(at);
      }),
    );
  });

  test("does not show its position", ({ expect }) => {
    const codec = makeCodec();
    fc.assert(
      fc.property(position, (at) => {
        const bytes = Buffer.from(codec.encode(scope, at), "base64url");
        expect(bytes.readUIntBE(1, 6)).not.toBe(at.value);
      }),
    );
  });

  test("with any one bit changed is not ours", ({ expect }) => {
    const codec = makeCodec();
    const bytes = Buffer.from(codec.encode(scope, { flags: 3, value: 1234, id: "a".repeat(16) }), "base64url");
    let accepted = 0;
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      try {
        codec.decode(scope, changed.toString("base64url"));
        accepted++;
      } catch (error) {
        expect(error).toMatchObject({ code: "invalid_cursor" });
      }
    }
    expect(accepted).toBe(0);
  });

  test.for([
    ["another workspace", { workspaceId: "wsp_2" }],
    ["another person", { userId: "usr_2" }],
    ["another tool", { route: "kb_search_entities" }],
    ["another argument", { args: { query: "q4", kind: "task" } }],
    ["one argument more", { args: { query: "q3", kind: "task", status: "open" } }],
  ] as const)("of %s is refused", ([, change], { expect }) => {
    const codec = makeCodec();
    const cursor = codec.encode(scope, { flags: 0, value: 1, id: "" });
    expect(() => codec.decode({ ...scope, ...change }, cursor)).toThrow(
      expect.objectContaining({ code: "invalid_cursor" }),
    );
  });

  test("does not mind the order of arguments, and absent ones", ({ expect }) => {
    const codec = makeCodec();
    const cursor = codec.encode(scope, { flags: 0, value: 1, id: "" });
    const same = { ...scope, args: { kind: "task", status: undefined, query: "q3", after: null } };
    expect(codec.decode(same, cursor).value).toBe(1);
  });

  test("is valid for a day at least and two days at most", ({ expect }) => {
    const clock = makeTestClock();
    const codec = makeCodec(clock);
    const cursor = codec.encode(scope, { flags: 0, value: 1, id: "" });
    clock.advance(DAY_MS);
    expect(codec.decode(scope, cursor).value).toBe(1);
    clock.advance(DAY_MS);
    expect(() => codec.decode(scope, cursor)).toThrow(expect.objectContaining({ code: "invalid_cursor" }));
  });

  test("of another key is refused", ({ expect }) => {
    const cursor = makeCodec().encode(scope, { flags: 0, value: 1, id: "" });
    const other = makeCursorCodec(Buffer.alloc(32, 2), makeTestClock());
    expect(() => other.decode(scope, cursor)).toThrow(expect.objectContaining({ code: "invalid_cursor" }));
  });
});
