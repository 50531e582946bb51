import { expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { byNumber, type ContainerEvent, makeContainers } from "#sources/containers.ts";
import { makeFailures } from "#sources/failures.ts";
import { runParts } from "./stored.ts";

interface Room {
  id: string;
  name: string;
}

function open(compare?: (a: string, b: string) => number) {
  return makeContainers<Room>(
    { ...runParts(), now: () => 0 },
    {
      key: "room",
      refOf: (id) => ({ type: "channel", id }),
      nameOf: ({ name }) => name,
      ...(compare && { compare }),
      failures: makeFailures(async () => undefined),
    },
  );
}

const rooms = (...ids: string[]): Room[] => ids.map((id) => ({ id, name: `Room ${id}` }));

/** What a walk reads, and where it could be gone on with. */
async function walk(containers: ReturnType<typeof open>, ids: string[], after = "", bad = "") {
  const read: string[] = [];
  const said: unknown[] = [];
  async function* readRoom({ id }: Room): AsyncGenerator<ContainerEvent<number>, void> {
    read.push(id);
    yield { t: "page", entries: [], at: 1 };
    if (id === bad) throw new ApiError("source_unavailable", { message: "It failed.", details: { status: 500 } });
  }
  for await (const event of containers.walk(rooms(...ids), { feed: "now", after }, readRoom))
    said.push(event.t === "page" ? event.checkpoint : event);
  return { read, said };
}

test("containers are read in the order of their ids, however they are listed, so that none is passed over", async () => {
  expect((await walk(open(), ["c", "a", "b"])).read).toEqual(["a", "b", "c"]);
  expect((await walk(open(), ["c", "a", "b"], "a")).read).toEqual(["b", "c"]);
  expect((await walk(open(byNumber), ["10", "9", "1"], "9")).read).toEqual(["10"]);
});

test("one that fails is said to have failed, and the others come", async () => {
  const { read, said } = await walk(open(), ["a", "b"], "", "a");
  expect(read).toEqual(["a", "b"]);
  const failed = {
    t: "failed",
    what: { container: { type: "channel", id: "a" } },
    as: "a",
    message: "Room a can't be read now: It failed.",
  };
  expect(said).toEqual([
    { feed: "now", after: "", open: { id: "a", label: "Room a", at: 1 } },
    failed,
    { feed: "now", after: "a" },
    { feed: "now", after: "a", open: { id: "b", label: "Room b", at: 1 } },
    { feed: "now", after: "b" },
  ]);
});

test("of a list that isn't whole nothing is gone, and what is gone is forgotten", async () => {
  const containers = open();
  await containers.keep({ known: rooms("a", "b"), odd: ["c"], isWhole: true });
  for (const room of rooms("a", "b")) await containers.isRead(room);
  expect((await containers.keep({ known: rooms("a"), odd: [], isWhole: false })).gone).toEqual([]);
  expect((await containers.keep({ known: rooms("a"), odd: [], isWhole: true })).gone).toEqual(["b", "c"]);
  expect(await Promise.all(rooms("a", "b").map(containers.isKnown))).toEqual([true, false]);
  expect(await containers.isKnown({ id: "a", name: "Another name" })).toBe(false);
});
