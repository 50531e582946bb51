import { describe, test } from "vitest";
import { makeSearchGate } from "#server/search/gate.ts";

const person = (userId: string, workspaceId = "wsp_1") => ({ workspaceId, userId });

/** A gate whose searches last until the test ends them, in the order in which they began. */
function makeBusyGate(slots: number) {
  let now = 0;
  const begun: { name: string; end(): void }[] = [];
  const refused: string[] = [];
  const ticks: (() => void)[] = [];
  const sleep = () => new Promise<void>((resolve) => ticks.push(resolve));
  const gate = makeSearchGate({ clock: { now: () => now }, slots, time: { now: () => now, sleep } });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  // The next search begins in the turn after the one in which another has ended.
  const settled = async () => {
    await turn();
    await turn();
  };
  return {
    refused,
    settled,
    /** Background work that begins when it may. */
    async prepare(name: string, done: string[], use: () => void = () => undefined) {
      await gate.waitForGap();
      done.push(name);
      use();
    },
    /** Lets so many milliseconds pass, and what waits look for a gap. */
    async tick(ms: number) {
      now += ms;
      for (const wake of ticks.splice(0)) wake();
      await settled();
    },
    names: () => begun.map(({ name }) => name),
    ask(name: string, who = person(name)) {
      const work = () => new Promise<void>((end) => begun.push({ name, end }));
      gate.run(who, work).catch((error: { code: string }) => refused.push(`${name}: ${error.code}`));
    },
    /** Lets the searches at work end after so many milliseconds each. */
    async endAll(tookMs: number) {
      now += tookMs;
      for (const { end } of begun.splice(0)) end();
      await settled();
    },
  };
}

describe("waiting searches", () => {
  test("work at most so many at a time, and begin as others end", async ({ expect }) => {
    const gate = makeBusyGate(2);
    for (const name of ["a", "b", "c"]) gate.ask(name);
    await gate.settled();
    expect(gate.names()).toEqual(["a", "b"]);
    await gate.endAll(10);
    expect(gate.names()).toEqual(["c"]);
  });

  test("are refused at once when they could not begin within a second, those of the flood alone", async ({
    expect,
  }) => {
    const gate = makeBusyGate(2);
    // Searches of half a second: two slots begin four of them a second.
    for (let n = 0; n < 60; n++) {
      gate.ask(`slow${n}`);
      gate.ask(`slower${n}`);
      await gate.settled();
      await gate.endAll(500);
    }
    expect(gate.refused).toEqual([]);
    for (let n = 0; n < 30; n++) gate.ask(`f${n}`, person("flood"));
    gate.ask("lone", person("lone"));
    gate.ask("elsewhere", person("u", "wsp_2"));
    await gate.settled();
    const waiting = 32 - 2 - gate.refused.length;
    expect(waiting).toBe(4);
    expect(gate.refused.every((line) => /^f\d+: search_overloaded$/.test(line))).toBe(true);
    const first = gate.names();
    await gate.endAll(500);
    const next = gate.names();
    await gate.endAll(500);
    expect([first, next, gate.names()]).toEqual([["f0", "lone"], ["f1", "elsewhere"], ["f2"]]);
  });

  test("wait in greater number when searches are fast, and in smaller once they turn slow", async ({ expect }) => {
    const gate = makeBusyGate(1);
    for (let n = 0; n < 60; n++) {
      gate.ask("fast");
      await gate.settled();
      await gate.endAll(10);
    }
    for (let n = 0; n < 90; n++) gate.ask(`q${n}`);
    await gate.settled();
    expect(gate.refused).toEqual([]);
    // One that lasts two seconds: those behind it would begin too late.
    await gate.endAll(2_000);
    expect(gate.refused.length).toBeGreaterThan(60);
    expect(gate.names()).toHaveLength(1);
  });

  test("that fail give their place away like those that end", async ({ expect }) => {
    const gate = makeSearchGate({ clock: { now: () => 0 }, slots: 1 });
    const failing = gate.run(person("a"), () => Promise.reject(new Error("no")));
    const next = gate.run(person("b"), async () => "done");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("done");
  });
});

describe("one person's searches", () => {
  test("leave places to others, and wait for a turn of the event loop in which answers are made", async ({
    expect,
  }) => {
    const gate = makeBusyGate(4);
    for (let n = 0; n < 4; n++) gate.ask(`f${n}`, person("flood"));
    await gate.settled();
    expect(gate.names()).toEqual(["f0", "f1"]);
    gate.ask("lone");
    await gate.settled();
    expect(gate.names()).toEqual(["f0", "f1", "lone"]);
  });

  test("are one at a time while others search, and two again ten seconds later", async ({ expect }) => {
    const gate = makeBusyGate(4);
    gate.ask("lone");
    for (let n = 0; n < 5; n++) gate.ask(`f${n}`, person("flood"));
    await gate.settled();
    expect(gate.names()).toEqual(["lone", "f0"]);
    await gate.endAll(10_000);
    expect(gate.names()).toEqual(["f1"]);
    await gate.endAll(1);
    expect(gate.names()).toEqual(["f2", "f3"]);
  });
});

describe("background work", () => {
  test("begins at once while no one searches", async ({ expect }) => {
    const gate = makeBusyGate(2);
    const begun: string[] = [];
    for (const name of ["a", "b", "c"]) void gate.prepare(name, begun);
    await gate.settled();
    expect(begun).toEqual(["a", "b", "c"]);
  });

  test("begins when the last search has ended, a piece at a time while people search", async ({ expect }) => {
    const gate = makeBusyGate(2);
    const begun: string[] = [];
    gate.ask("one");
    gate.ask("two");
    await gate.settled();
    for (const name of ["a", "b", "c", "d"]) void gate.prepare(name, begun);
    await gate.tick(5);
    expect(begun).toEqual([]);
    await gate.endAll(5);
    expect(begun).toEqual([]);
    await gate.tick(5);
    expect(begun).toEqual(["a"]);
    await gate.tick(5);
    expect(begun).toEqual(["a", "b"]);
    await gate.tick(30);
    expect(begun).toEqual(["a", "b", "c", "d"]);
  });

  test("waits again when a search comes into its gap", async ({ expect }) => {
    const gate = makeBusyGate(2);
    const begun: string[] = [];
    gate.ask("one");
    await gate.settled();
    void gate.prepare("a", begun, () => gate.ask("two"));
    void gate.prepare("b", begun);
    await gate.endAll(5);
    await gate.tick(5);
    await gate.tick(5);
    expect(begun).toEqual(["a"]);
    await gate.endAll(5);
    await gate.tick(5);
    expect(begun).toEqual(["a", "b"]);
  });

  test("goes on slowly, piece by piece, when searches leave no gap", async ({ expect }) => {
    const gate = makeBusyGate(1);
    const begun: string[] = [];
    gate.ask("one");
    gate.ask("two");
    await gate.settled();
    for (const name of ["a", "b"]) void gate.prepare(name, begun);
    await gate.endAll(5);
    await gate.tick(10);
    expect(begun).toEqual([]);
    await gate.tick(10);
    expect(begun).toEqual(["a"]);
    await gate.tick(20);
    expect(begun).toEqual(["a", "b"]);
  });
});
