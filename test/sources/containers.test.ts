import { expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { makeRunState } from "#server/sync/run-state.ts";
import { makeContainers } from "#sources/containers.ts";
import { makeFailures } from "#sources/failures.ts";

test("a container whose id is long fails alone, waits, and is known once it was read", async () => {
  const containers = makeContainers<{ id: string }>(
    { state: makeRunState(async () => undefined), now: () => 0 },
    {
      key: "folder",
      refOf: (id) => ({ type: "folder", id }),
      nameOf: ({ id }) => id,
      failures: makeFailures(async () => undefined),
    },
  );
  const [folder, other] = ["a", "b"].map((end) => ({ id: `${"Deep/".repeat(190)}${end}` }));
  if (!folder || !other) throw new Error("There are two.");
  const error = new ApiError("source_unavailable", { message: "No.", details: { status: 200 } });
  for (let at = 0; at < 3; at++) {
    const event = await containers.notRead(folder, error);
    expect(event).toMatchObject({ t: "failed", container: { id: folder.id } });
  }
  expect(await containers.isWaiting(folder)).toBe(true);
  expect(await containers.isWaiting(other)).toBe(false);
  await containers.isRead(folder);
  expect(await containers.isKnown(folder)).toBe(true);
  expect(await containers.isKnown(other)).toBe(false);
});
