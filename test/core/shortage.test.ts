import { expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { findShortage } from "#core/shortage.ts";

const ofSystem = (code: string, syscall: string) => Object.assign(new Error(`${code}: ${syscall}`), { code, syscall });

test.each([
  ["EMFILE", "open"],
  ["ENFILE", "connect"],
  ["EAGAIN", "spawn git"],
  ["ENOMEM", "spawn /usr/bin/node"],
])(
  "%s of %s is a shortage, also as the cause of another failure; it answers 503 and when to try again",
  (code, syscall) => {
    const error = ofSystem(code, syscall);
    const wrapped = new ApiError("source_unavailable", { message: "No.", cause: new Error("No.", { cause: error }) });
    for (const found of [findShortage(error), findShortage(wrapped)]) {
      expect(found).toMatchObject({ code: "resources_exhausted", status: 503, retryAfterMs: 10_000 });
      expect(found?.message).toContain(`(${code})`);
      expect(findShortage(new Error("No.", { cause: found }))).toBe(found);
    }
  },
);

test.each([
  ["EAGAIN", "open"],
  ["ENOMEM", "read"],
  ["ENOSPC", "write"],
  ["EACCES", "spawn git"],
])("%s of %s is none: it may be of this one file", (code, syscall) => {
  expect(findShortage(ofSystem(code, syscall))).toBeUndefined();
});

test("causes that lead back to themselves, and what is no error, are no shortage", () => {
  const round = new Error("No.");
  round.cause = round;
  expect([round, "EMFILE", { code: "EMFILE" }, undefined].map(findShortage)).toEqual(Array(4).fill(undefined));
});
