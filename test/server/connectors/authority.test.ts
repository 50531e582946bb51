import { describe, test } from "vitest";
import { type Authority, mayName } from "#core/principals.ts";
import { withoutUnknownPeople, findInstance, loadAuthority } from "#server/connectors/authority.ts";
import { isForAdmins } from "#server/connectors/credentials.ts";
import { listSources } from "#server/connectors/sources.ts";
import { item } from "../sync/harness.ts";
import { FOLDER, folderSource } from "./server.ts";

const FORGE = folderSource({ items: [] });
const [THERE, GONE] = ["grp_2222222222222222", "grp_3333333333333333"] as const;
const HERE = { connectorId: "con_here", providerId: "folder", ownerUserId: "usr_owner", config: FOLDER.config };

describe("whose users a connector's source names", () => {
  const url = (baseUrl: string, providerId = "folder") => ({ baseUrl, providerId });
  const find = (registered: readonly ReturnType<typeof url>[], baseUrl: string | undefined, hasPeople = true) =>
    findInstance(
      { instances: { list: async () => [...registered], tenantOf: async () => undefined } as never },
      {
        spec: { ...FORGE.spec, ...(hasPeople && { hasPeople }) },
        ...(baseUrl !== undefined && { baseUrlOf: () => baseUrl }),
      },
      HERE,
      [url("https://operator.test")],
    );

  test("is one that the workspace or the operator registered for this source, whatever else they registered", async ({
    expect,
  }) => {
    const registered = [url("https://git.acme.test"), url("https://wiki.acme.test")];
    for (const baseUrl of ["https://git.acme.test/", "https://wiki.acme.test", "https://operator.test"]) {
      expect(await find(registered, baseUrl)).toMatchObject({ isRegistered: true });
    }
    expect(await find([url("https://git.acme.test", "other")], "https://git.acme.test")).toEqual({
      name: "con_here",
      isRegistered: false,
    });
  });

  test("is the connector's alone without an address, and nobody's where the source knows no people", async ({
    expect,
  }) => {
    const registered = [url("https://git.acme.test")];
    expect(await find(registered, undefined)).toEqual({ name: "con_here", isRegistered: false });
    expect(await find(registered, "https://git.acme.test", false)).toBeUndefined();
  });
});

describe("what a sync may name", () => {
  const load = (acl: "connector" | "per_item", readers: readonly string[]): Promise<Authority> =>
    loadAuthority(
      {
        groups: { whichOf: async (ids: readonly string[]) => new Set(ids.filter((id) => id === THERE)) } as never,
      },
      { spec: { ...FORGE.spec, acl, namedIn: ["readers"] } },
      { ...HERE, config: { readers } },
      undefined,
    );

  test("is the workspace and its groups only where its config names them", async ({ expect }) => {
    const names = ["workspace", `group:${THERE}`, `group:${GONE}`];
    const named = async (...of: Parameters<typeof load>) => {
      const authority = await load(...of);
      return names.filter((name) => mayName(name, authority));
    };
    expect(await named("per_item", [])).toEqual([]);
    expect(await named("per_item", [THERE, GONE])).toEqual([`group:${THERE}`]);
    expect(await named("per_item", ["workspace"])).toEqual(["workspace"]);
    // Where the connector's own access is all there is, the workspace only repeats that.
    expect(await named("connector", [])).toEqual(["workspace"]);
  });

  test("are its own users: who else is said to have written or to do something is a claim", async ({ expect }) => {
    const users = { providerId: "folder", instance: "git.acme.test" };
    const own = { name: "Ann", principal: "user:folder:git.acme.test:1", claimed: false };
    const foreign = [
      { name: "Mallory", principal: "user:folder:git.else.test:1", claimed: false },
      { name: "All", principal: "group:con_here:eng", claimed: false },
      { name: "Everybody", principal: "everyone", claimed: false },
    ];
    const said = { ...item("a", "text"), author: own, assignees: [own, ...foreign] };
    const { author, assignees } = withoutUnknownPeople(said, { connectorId: "con_here", users });
    expect(author).toEqual(own);
    expect(assignees).toEqual([own, ...foreign.map(({ name }) => ({ name, claimed: true }))]);
    const unsaid = { ...item("b", "text"), author: { name: "Somebody", claimed: false }, people: [own] };
    expect(withoutUnknownPeople(unsaid, { connectorId: "con_here", users })).toEqual(unsaid);
  });
});

describe("who may connect a source, so", () => {
  const judged = (auth: typeof FORGE.spec.auth, hasCredentials: boolean) =>
    isForAdmins({ ...FORGE, spec: { ...FORGE.spec, auth } }, FOLDER.config, { hasCredentials });

  test("only an admin what speaks for nobody's account; who has lost theirs gives it again", ({ expect }) => {
    const basic = { type: "credentials", scheme: "bearer", token: "token" } as const;
    for (const alone of ["none", "key"] as const) {
      expect([judged([{ type: alone }], false), judged([{ type: alone }], true)]).toEqual([true, true]);
      expect([judged([{ type: alone }, basic], false), judged([{ type: alone }, basic], true)]).toEqual([true, false]);
    }
    expect([judged([basic], false), judged([basic], true)]).toEqual([false, false]);
  });

  test("nobody what can't run here, and the list says why", async ({ expect }) => {
    const missing = { ...FORGE, unavailable: async () => "Install git first." };
    const { sources } = await listSources({
      sources: { find: async () => missing, list: async () => [missing, FORGE] },
    });
    expect(sources.map(({ available, reason }) => [available, reason])).toEqual([
      [false, "Install git first."],
      [true, undefined],
    ]);
  });
});
