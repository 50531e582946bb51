import * as fc from "fast-check";
import { expect, test } from "vitest";
import { elementTexts, exactText, memberText, rpcText } from "#core/json-text.ts";

/** A value's text, with or without space between its tokens. */
const text = fc
  .tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"))
  .map(([value, space]) => JSON.stringify(value, null, space));

test("a member's and an element's text is what its value was written as", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), text), fc.array(text), (members, elements) => {
      const pairs = Object.entries(members);
      const object = `{ ${pairs.map(([name, value]) => `${JSON.stringify(name)} : ${value}`).join(" ,\n")} }`;
      for (const [name, value] of pairs) expect(memberText(object, name)).toBe(value);
      const list = ` [${elements.join(" , ")} ]`;
      if (elements.length > 0) expect(elementTexts(list)).toEqual(elements);
    }),
  );
});

test("names are read as JSON reads them: escaped, several times, nested and absent ones", () => {
  expect(memberText(String.raw`{"\u0069d":1}`, "id")).toBe("1");
  expect(memberText('{"id":1,"a":{"id":2},"id": 3 }', "id")).toBe("3");
  expect(memberText(String.raw`{"a":"\"id\":4,","b":["id"]}`, "id")).toBeUndefined();
  expect(memberText("{}", "id")).toBeUndefined();
});

test("a number keeps the digits that it was written with", () => {
  for (const written of ["9223372036854775807", "-9007199254740993", "1e400", "0.1000000000000000055", "12"]) {
    expect(exactText(JSON.parse(written) as number, `{"id": ${written} }`, "id")).toBe(written);
  }
  expect(exactText('a"b', "{}", "id")).toBe('"a\\"b"');
});

test("a message is its id and the rest", () => {
  expect(rpcText("9223372036854775807", { result: {} })).toBe('{"jsonrpc":"2.0","id":9223372036854775807,"result":{}}');
});
