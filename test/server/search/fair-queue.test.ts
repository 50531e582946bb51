import { expect, test } from "vitest";
import { makeFairQueue } from "#server/search/fair-queue.ts";

const of = (workspaceId: string, userId = "u") => ({ workspaceId, userId });

function drain(queue: { take(): string | undefined }): string[] {
  const taken: string[] = [];
  for (let entry = queue.take(); entry !== undefined; entry = queue.take()) taken.push(entry);
  return taken;
}

test("a workspace with many questions does not hold up another, nor a person others of their workspace", () => {
  const queue = makeFairQueue<string>();
  for (const entry of ["a1", "a2", "a3"]) queue.add(of("a", "ana"), entry);
  queue.add(of("a", "bo"), "a-bo");
  queue.add(of("b"), "b1");
  expect(queue.size).toBe(5);
  expect(drain(queue)).toEqual(["a1", "b1", "a-bo", "a2", "a3"]);
  expect(queue.size).toBe(0);
});

test("who has most waiting loses their newest; among equals the last to come", () => {
  const queue = makeFairQueue<string>();
  queue.add(of("a", "lone"), "lone");
  for (const entry of ["f1", "f2", "f3"]) queue.add(of("a", "flood"), entry);
  queue.add(of("b"), "b1");
  queue.add(of("b"), "b2");
  expect([queue.shed(), queue.shed(), queue.shed(), queue.shed()]).toEqual(["f3", "f2", "b2", "f1"]);
  expect([queue.shed(), queue.shed(), queue.shed()]).toEqual(["b1", "lone", undefined]);
  expect(queue.size).toBe(0);
});
