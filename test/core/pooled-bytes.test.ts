import { test } from "vitest";
import { pooledBytes } from "#core/pooled-bytes.ts";

test("bytes come in the order in which they were drawn, each once, and many at once are drawn for themselves", ({
  expect,
}) => {
  let drawn = 0;
  const draws: number[] = [];
  const bytes = pooledBytes((count) => {
    draws.push(count);
    return Uint8Array.from({ length: count }, () => drawn++ % 251);
  });
  const taken = [...bytes(16), ...bytes(16)];
  expect(taken).toEqual(Array.from({ length: 32 }, (_, at) => at));
  const first = bytes(4);
  const kept = [...first];
  expect([bytes(5_000).length, bytes(0).length, draws]).toEqual([5_000, 0, [4_096, 5_000]]);
  // Nobody else gets to see or change what was given.
  bytes(4_000);
  expect([...first]).toEqual(kept);
});
