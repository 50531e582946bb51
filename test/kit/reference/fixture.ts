import { type Failing, type Failure, type KitFixture } from "../fixture.ts";
import { OTHER_TOKEN, startProvider, TOKEN, WEBHOOK_SECRET } from "./provider.ts";
import { makeReferenceSource } from "./source.ts";

/** The reference source over a provider of its own, and the ways to change that: the kit's model of a fixture. */
export async function makeReferenceFixture() {
  const provider = await startReferenceWorld();
  const source = makeReferenceSource();
  let count = 0;
  let renamed = "p6";
  const fixture = {
    source,
    config: { url: provider.origin },
    badConfigs: [{}, { url: "" }, { url: provider.origin, depth: 1 }, { url: "http://127.0.0.1:1" }],
    credentials: { token: TOKEN },
    badCredentials: { token: "kb-canary-wrong-0a31" },
    endMarks: { "": "next" },
    minItems: 10,
    narrowerScope: { include: [], exclude: ["b"] },
    add: async () => provider.putPage(`p9-${++count}`, { space: "a" }),
    edit: async () => provider.putPage("p2", { text: `Edited ${++count} times.` }),
    async remove() {
      provider.removePage("p3");
      return "p3";
    },
    addOdd: async () =>
      ["", "   ", "日本語 🗂️ עברית", "x".repeat(10_000)].map((title, at) => provider.putPage(`q${at}`, { title })),
    async moveItem() {
      provider.movePage("p4", provider.pages.get("p4")?.space === "a" ? "b" : "a");
      return "p4";
    },
    async renameItem() {
      const from = renamed;
      renamed = provider.renamePage(from);
      return { from, to: renamed };
    },
    async changeAccess() {
      const has = provider.readersOf("p5").includes("u3");
      provider.setMembers("space:b", has ? ["u2"] : ["u2", "u3"]);
      return "p5";
    },
    async fail(kind: Failure): Promise<Failing> {
      provider.fail(kind, kind === "one_item" ? "p5" : "b", kind === "two_containers" ? "a" : undefined);
      const of = (...spaces: string[]) =>
        [...provider.pages.values()].filter(({ space }) => spaces.includes(space)).map(({ id }) => id);
      const hit: Partial<Record<Failure, string[]>> = {
        one_container: of("b"),
        two_containers: of("a", "b"),
        one_item: ["p5"],
      };
      const externalIds = hit[kind] ?? [];
      return { externalIds, heal: () => provider.heal() };
    },
    expireCursor: async () => provider.forgetChanges(),
    people: async () => provider.people(),
    whoSees: async (externalId: string) => provider.readersOf(externalId),
    isPublic: async (externalId: string) => provider.isPublic(externalId),
    swapAccount: async () => ({ credentials: { token: OTHER_TOKEN }, externalIds: provider.seenByOther() }),
    notification: async (externalId: string) => ({
      secret: WEBHOOK_SECRET,
      request: { ...provider.notificationOf(externalId), receivedAt: Date.now() },
    }),
    subscriptions: async () => provider.subscriptions(),
    async removePerson() {
      provider.removeUser("u1");
      return "u1";
    },
    async removeGroup() {
      provider.removeGroup("team:inner");
      return ["u3"];
    },
    leadAway: async (origin: string) => provider.leadLinksTo(origin),
    requests: () => provider.requests(),
  } satisfies Omit<KitFixture, "source"> & { source: typeof source };
  return { provider, fixture };
}

/**
 * Two spaces, a public one, and one for everybody who is signed in. `team:outer` and `team:inner` are in each other, as teams can be; `p7` has a comment, and
 * that one an answer.
 */
export async function startReferenceWorld(options: Parameters<typeof startProvider>[0] = {}) {
  const provider = await startProvider(options);
  for (const id of ["u1", "u2", "u3", "u4"]) provider.putUser(id);
  provider.putUser("u5", "suspended");
  provider.setMembers("team:outer", ["u1", "team:inner"]);
  provider.setMembers("team:inner", ["u3", "team:outer", "u5"]);
  provider.putSpace("a", { members: ["team:outer"] });
  provider.putSpace("b", { members: ["u2"] });
  provider.putSpace("c", { isPublic: true });
  provider.putSpace("d", { members: ["u1", "u2", "u3", "u4"] });
  for (const id of ["p1", "p2", "p3", "p4"]) provider.putPage(id, { space: "a" });
  for (const id of ["p5", "p6", "p7"]) provider.putPage(id, { space: "b" });
  provider.putPage("p8", { space: "c" });
  provider.putPage("s1", { space: "d" });
  provider.putPage("r1", { space: "b", on: "p7" });
  provider.putPage("r2", { space: "b", on: "p7", answers: "r1" });
  return provider;
}
