import { describe, test } from "vitest";
import { normalizeBaseUrl } from "#core/base-url.ts";
import { makeServer } from "../../../helpers.ts";

async function makeCast(settings = {}) {
  const kb = await makeServer({ settings });
  const owner = await kb.addOwner();
  const admin = await kb.addMember(owner.workspaceId, "admin");
  const member = await kb.addMember(owner.workspaceId, "member");
  return { kb, owner, admin, member };
}

describe("registered instances", () => {
  test("are set as a whole by admins, in one form, and shown to members with those of the operator", async ({
    expect,
  }) => {
    const operated = { providerId: "wiki", baseUrl: "https://wiki.acme.test" };
    const { kb, admin, member } = await makeCast({ instances: [operated] });
    const body = {
      instances: [
        { providerId: "gitea", baseUrl: "HTTPS://Git.Acme.test:443/git/" },
        { providerId: "gitea", baseUrl: "https://git.acme.test/git" },
      ],
    };
    const { status, json } = await kb.as(admin).patch("/api/workspace", body);
    expect([status, json.workspace.instances]).toEqual([
      200,
      [
        { ...operated, setBy: "operator" },
        { providerId: "gitea", baseUrl: "https://git.acme.test/git", setBy: "workspace" },
      ],
    ]);
    expect((await kb.as(member).get("/api/workspace")).json).toEqual(json);
    expect((await kb.as(member).patch("/api/workspace", { instances: [] })).status).toBe(403);
    const [entry] = (await kb.as(admin).get("/api/audit?action=workspace.changed")).json.entries;
    expect(entry.details).toMatchObject({ instancesAdded: ["gitea https://git.acme.test/git"], instancesRemoved: [] });
    const emptied = await kb.as(admin).patch("/api/workspace", { instances: [] });
    expect(emptied.json.workspace.instances).toEqual([{ ...operated, setBy: "operator" }]);
  });

  test("are base URLs and nothing else", async ({ expect }) => {
    const { kb, admin } = await makeCast();
    for (const baseUrl of [
      "git.acme.test",
      "ftp://git.acme.test",
      "https://a:b@git.acme.test",
      "https://x.test/?a=1",
    ]) {
      const answer = await kb.as(admin).patch("/api/workspace", { instances: [{ providerId: "gitea", baseUrl }] });
      expect([baseUrl, answer.status, answer.json.field]).toEqual([baseUrl, 400, "instances"]);
    }
    expect(normalizeBaseUrl("https://git.acme.test/a/../b//")).toBe("https://git.acme.test/b");
    expect(normalizeBaseUrl("https://git.acme.test/m/fake")).not.toBe(normalizeBaseUrl("https://git.acme.test"));
  });
});

describe("identity domains", () => {
  test("are set by owners alone, in lower case, and never those of mail providers", async ({ expect }) => {
    const { kb, owner, admin } = await makeCast();
    const set = (who: typeof owner, identityDomains: string[]) =>
      kb.as(who).patch("/api/workspace", { identityDomains });
    expect((await set(admin, ["acme.test"])).status).toBe(403);
    expect((await set(owner, [" Acme.test", "acme.test"])).json.workspace.identityDomains).toEqual(["acme.test"]);
    for (const domain of ["gmail.com", "@acme.test", "acme", "аcme.test", "acme..test"]) {
      expect([domain, (await set(owner, [domain])).status]).toEqual([domain, 400]);
    }
    expect((await kb.as(admin).get("/api/workspace")).json.workspace.identityDomains).toEqual(["acme.test"]);
  });
});
