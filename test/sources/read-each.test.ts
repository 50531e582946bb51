import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { failedSkip, makeFailures } from "#sources/failures.ts";
import { halfRead, idAt, listed, makeOddRecords, many } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";

const down = () => new ApiError("source_unavailable", { message: "It can't be reached." });
const fails = () => new ApiError("source_unavailable", { message: "HTTP 500.", details: { status: 500 } });
const refuses = () => new ApiError("source_forbidden", { message: "HTTP 403." });

describe("failures of single things", () => {
  test("five in a row prove nothing while the provider is well", async () => {
    let probes = 0;
    const failures = makeFailures(async () => void probes++);
    for (let i = 0; i < 23; i++) await failures.requireOfOne(fails());
    expect(probes).toBe(4);
  });

  test("what is read in between begins the count again", async () => {
    const failures = makeFailures(() => Promise.reject(fails()));
    for (let i = 0; i < 20; i++) {
      await failures.requireOfOne(fails());
      if (i % 4 === 3) failures.well();
    }
  });

  test("a provider that isn't well is the failure of all, wherever it is caught", async () => {
    const failures = makeFailures(() => Promise.reject(fails()));
    for (let i = 0; i < 4; i++) await failures.requireOfOne(fails());
    const error: unknown = await failures.requireOfOne(fails()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    await expect(failures.requireOfOne(error)).rejects.toBe(error);
  });

  test("who refuses the probe answers", async () => {
    const failures = makeFailures(() => Promise.reject(refuses()));
    for (let i = 0; i < 6; i++) await failures.requireOfOne(fails());
  });

  test.each([down(), new TypeError("a mistake"), new ApiError("source_unauthorized", { message: "HTTP 401." })])(
    "%s is of all",
    async (error) => {
      await expect(makeFailures(async () => undefined).requireOfOne(error)).rejects.toBe(error);
    },
  );
});

describe("single items", () => {
  async function read(ids: readonly string[], readOne: (id: string) => Promise<readonly SyncEvent[] | "later">) {
    const ctx = { signal: new AbortController().signal };
    const events: SyncEvent[] = [];
    const failures = makeFailures(async () => undefined);
    for await (const event of readEach<SyncEvent>({ ctx, failures }, ids, readOne)) events.push(event);
    return events;
  }

  test("each ends as something", async () => {
    const answers: Record<string, () => Promise<readonly SyncEvent[] | "later">> = {
      seen: async () => [{ t: "seen", externalIds: ["seen"] }],
      gone: async () => [],
      closed: () => Promise.reject(refuses()),
      broken: () => Promise.reject(fails()),
      odd: () => Promise.reject(halfRead("It isn't understood.")),
      later: async () => "later",
    };
    expect(await read(Object.keys(answers), async (id) => answers[id]?.() ?? [])).toEqual([
      { t: "seen", externalIds: ["seen"] },
      { t: "delete", externalId: "gone" },
      { t: "refused", what: { externalId: "closed" }, code: "source_forbidden" },
      failedSkip("broken", "HTTP 500."),
      failedSkip("odd", "It isn't understood."),
    ]);
  });

  test("a provider that can't be reached ends the run", async () => {
    await expect(read(["a", "b"], () => Promise.reject(down()))).rejects.toThrow("reached");
  });
});

describe("a list", () => {
  const list = listed(z.object({ id: z.string(), name: z.string() }), idAt("id", z.string()));

  test("says what it doesn't understand", () => {
    const records = [{ id: "a", name: "A" }, { id: "b", name: 5 }, null, [], "c", { id: 5 }, { id: "d", name: "D" }];
    expect(list.parse(records)).toEqual({
      size: 7,
      known: [
        { id: "a", name: "A" },
        { id: "d", name: "D" },
      ],
      odd: ["b"],
      nameless: 4,
    });
  });

  test.each([undefined, null, {}, "a", 5])("%j is none, and not an empty one", (value) => {
    expect(list.safeParse(value).success).toBe(false);
    expect(many(z.string()).safeParse(value).success).toBe(false);
  });

  test("what is kept is given once", () => {
    const odd = makeOddRecords();
    odd.known(list.parse([{ id: "b" }, { id: "b" }, 5]));
    odd.add("c");
    expect(odd.take()).toEqual({ ids: ["b", "c"], nameless: 1 });
    expect(odd.take()).toEqual({ ids: [], nameless: 0 });
  });

  test("what is read is told with what of it isn't understood, and without what was met before", async () => {
    const odd = makeOddRecords();
    odd.add("before");
    const read = async () => odd.known(list.parse([{ id: "b" }, 5]));
    expect(await odd.of(read)).toEqual({ found: [], ids: ["b"], nameless: 1 });
    expect(odd.take()).toEqual({ ids: [], nameless: 0 });
  });
});
