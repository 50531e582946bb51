import { expect, test } from "vitest";
import { makeBodyRoom } from "#server/http/body-room.ts";

const room = () => makeBodyRoom({ freeBytes: 10, senderBytes: 100, totalBytes: 150 });
const FULL = /Too many large bodies/;

test("a sender has a share, and all have a bound together; small bodies find a place besides", () => {
  const { enter } = room();
  const first = enter("a");
  first.take(10);
  first.take(100);
  expect(() => first.take(1)).toThrow(FULL);
  expect(() => enter("a").take(11)).toThrow(FULL);
  enter("a").take(10);
  const second = enter("b");
  second.take(60);
  expect(() => enter("c").take(11)).toThrow(FULL);
  enter("c").take(10);
});

test("what a body took is free again once it is left, however often", () => {
  const { enter } = room();
  for (let n = 0; n < 5; n++) {
    const place = enter("a");
    place.take(110);
    expect(() => place.take(5)).toThrow(FULL);
    place.release();
    place.release();
  }
  enter("b").take(110);
});
