/**
 * Each cell of the table in `docs/permissions.md`, in the server itself with a moved clock: what somebody lost at the source is
 * open until the last moment that the table allows, and closed then. Before a real Gitea and a real homeserver where they are.
 */
import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Source } from "#sources/contract.ts";
import { makeGiteaSource } from "#sources/gitea/index.ts";
import { threadId as matrixThread } from "#sources/matrix/map.ts";
import { threadId as slackThread } from "#sources/slack/map.ts";
import { type EngineFixture, type KitEngine, openEngine } from "../kit/engine.ts";
import { openSite as openConfluence } from "./confluence/fixture.ts";
import { places } from "./gitea/fixture.ts";
import { startGitea, whyNoGitea } from "./gitea/server.ts";
import { makeGithubFixture } from "./github/fixture.ts";
import { idOf as issueOf, makeWorld as makeGithubWorld } from "./github/world.ts";
import { CID, DAN, ANN, idOf as driveIdOf, makeDriveFixture, makeDriveWorld } from "./google-drive/fixture.ts";
import { openSite as openJira } from "./jira/fixture.ts";
import { makeCrowd, makeMatrixFixture, makeWorld as makeMatrixWorld } from "./matrix/fixture.ts";
import { findSynapse, startSynapse } from "./matrix/synapse.ts";
import { startProxy } from "./proxy.ts";
import { makeSlackFixture, makeWorld as makeSlackWorld, signed } from "./slack/fixture.ts";
import { LOSSES, type Loss, WITHDRAWALS, WORST_MS } from "./withdrawals.ts";

/** Who loses what, and how. */
interface Lost {
  who: string;
  externalId: string;
  withdraw(): unknown;
  /** The notification that the app sends of it. */
  told?: { event?: string; body: object };
}

interface Stage {
  fixture: EngineFixture;
  losses: Partial<Record<Loss, Lost>>;
  /** Signs a notification with the connector's secret. */
  sign?(told: NonNullable<Lost["told"]>, secret: string, now: number): { raw: string; headers: Record<string, string> };
}

const hmac = (secret: string, raw: string) => createHmac("sha256", secret).update(raw).digest("hex");

async function github(): Promise<Stage> {
  const world = await makeGithubWorld();
  const { fake, people, repositories, teams, issues } = world;
  const { api, web, site, inner } = repositories;
  return {
    fixture: await makeGithubFixture(world),
    losses: {
      team: {
        who: String(people.tim),
        externalId: issueOf(api, issues.first),
        withdraw: () => teams.kids.members.delete(people.tim),
        told: {
          event: "membership",
          body: { action: "removed", team: { id: teams.kids.id, parent: { id: teams.crew.id } } },
        },
      },
      container: {
        who: String(people.carl),
        externalId: issueOf(web, issues.pull),
        withdraw: () => web.direct.delete(people.carl),
        told: { event: "member", body: { action: "removed", repository: { id: web.id } } },
      },
      private: {
        who: String(people.sue),
        externalId: `r${site.id}#1`,
        withdraw: () => void (site.visibility = "private"),
        told: { event: "repository", body: { action: "privatized", repository: { id: site.id } } },
      },
      suspended: {
        who: String(people.mia),
        externalId: `r${inner.id}#1`,
        withdraw: () => Object.assign(fake.users.get(people.mia) ?? {}, { suspended_at: "2026-01-01T00:00:00Z" }),
      },
    },
    sign: ({ event = "", body }, secret) => {
      const raw = JSON.stringify(body);
      return { raw, headers: { "x-github-event": event, "x-hub-signature-256": `sha256=${hmac(secret, raw)}` } };
    },
  };
}

const atlassian: NonNullable<Stage["sign"]> = ({ body }, secret) => {
  const raw = JSON.stringify(body);
  return { raw, headers: { "x-hub-signature": `sha256=${hmac(secret, raw)}` } };
};

async function jira(): Promise<Stage> {
  const { world, fixture } = await openJira();
  const { ids, made } = world;
  return {
    fixture,
    losses: {
      team: { who: ids.ben, externalId: made.outage.id, withdraw: () => world.leave("g-ops", ids.ben) },
      container: { who: ids.dan, externalId: made.plan.id, withdraw: () => world.setDevelopers() },
      private: {
        who: ids.cid,
        externalId: made.welcome.id,
        withdraw: () => void (world.project("LOBBY").browse = [{ type: "group", parameter: "ops", value: "g-ops" }]),
        told: { body: { timestamp: 1, webhookEvent: "project_updated", project: { id: 1 } } },
      },
      suspended: {
        who: ids.ann,
        externalId: made.plan.id,
        withdraw: () => Object.assign(world.users.get(ids.ann) ?? {}, { active: false }),
        told: { body: { timestamp: 1, webhookEvent: "user_updated", user: {} } },
      },
    },
    sign: atlassian,
  };
}

async function confluence(): Promise<Stage> {
  const { world, fixture } = await openConfluence();
  const { ids, made } = world;
  return {
    fixture,
    losses: {
      team: { who: ids.ben, externalId: made.outage.id, withdraw: () => world.leave("g-ops", ids.ben) },
      container: {
        who: ids.dan,
        externalId: made.blue.id,
        withdraw: () => void (world.space("ENG").readers.users = []),
        told: { body: { timestamp: 1, event: "space_permissions_updated", space: { key: "ENG" } } },
      },
      private: {
        who: ids.cid,
        externalId: made.welcome.id,
        withdraw: () => void (world.space("LOBBY").isForLicensed = false),
        told: { body: { timestamp: 1, event: "space_permissions_updated", space: { key: "LOBBY" } } },
      },
      suspended: {
        who: ids.ann,
        externalId: made.blue.id,
        withdraw: () => Object.assign(world.users.get(ids.ann) ?? {}, { active: false }),
        told: { body: { timestamp: 1, event: "user_deactivated", user: {} } },
      },
    },
    sign: atlassian,
  };
}

async function slack(): Promise<Stage> {
  const world = await makeSlackWorld();
  const { act, ids, channels, messages, more } = world;
  const event = (id: string, told: object) => ({
    body: { type: "event_callback", team_id: "T1", event_id: id, event: told },
  });
  return {
    fixture: await makeSlackFixture(world),
    losses: {
      container: {
        who: ids.dan,
        externalId: slackThread(channels.team, messages.secret),
        withdraw: () => act("ann", "conversations.kick", { channel: channels.team, user: ids.dan }),
        told: event("Ev1", { type: "member_left_channel", channel: channels.team, user: ids.dan }),
      },
      private: {
        who: ids.dan,
        externalId: slackThread(channels.lobby, messages.welcome),
        withdraw: () => more.closed.add(channels.lobby),
        told: event("Ev2", {
          type: "message",
          subtype: "channel_convert_to_private",
          channel: channels.lobby,
          ts: "9.1",
        }),
      },
      suspended: {
        who: ids.dan,
        externalId: slackThread(channels.team, messages.secret),
        withdraw: () => more.deactivated.set(ids.dan, {}),
        told: event("Ev3", { type: "user_change", user: { id: ids.dan, deleted: true } }),
      },
    },
    sign: ({ body }, secret, now) => {
      const { headers, rawBody } = signed(body, { at: now, secret });
      return { raw: rawBody.toString(), headers: Object.fromEntries(headers) };
    },
  };
}

async function drive(): Promise<Stage> {
  const there = await makeDriveWorld();
  const { world, places: at, files } = there;
  const told = { body: {} };
  return {
    fixture: await makeDriveFixture(there),
    losses: {
      team: {
        who: driveIdOf(there, DAN),
        externalId: files.design,
        withdraw: () => world.groups.get("leads@acme.test")?.members.splice(0, 1),
      },
      container: {
        who: driveIdOf(there, CID),
        externalId: files.deal,
        withdraw: () => world.drives.get(at.sales)?.grants.splice(1, 1),
        told,
      },
      private: {
        who: driveIdOf(there, ANN),
        externalId: files.plan,
        withdraw: () => world.change(at.plans, { grants: [] }),
        told,
      },
      suspended: {
        who: driveIdOf(there, CID),
        externalId: files.deal,
        withdraw: () => Object.assign(world.users.get(CID) ?? {}, { suspended: true }),
      },
    },
    sign: (_told, secret) => {
      const token = createHmac("sha256", secret).update("google-drive channel").digest("base64url");
      return { raw: "", headers: { "x-goog-channel-token": token, "x-goog-resource-state": "change" } };
    },
  };
}

async function gitea(): Promise<Stage> {
  const server = await startGitea();
  onTestFinished(() => server.stop());
  const { api } = server;
  const people = { ann: await server.addPerson("ann"), ben: await server.addPerson("ben") };
  await api("POST", "/orgs", { username: "crew", visibility: "public" });
  const make = async (name: string, isPrivate: boolean) => {
    const { id } = await api<{ id: number }>("POST", "/orgs/crew/repos", { name, private: isPrivate });
    await api("POST", `/repos/crew/${name}/issues`, { title: `About ${name}` });
    return `r${id}#1`;
  };
  const [vault, site] = [await make("vault", true), await make("site", false)];
  const units = { permission: "read", units: ["repo.issues"], units_map: { "repo.issues": "read" } };
  const team = await api<{ id: number }>("POST", "/orgs/crew/teams", { name: "keepers", ...units });
  await api("PUT", `/teams/${team.id}/repos/crew/vault`);
  await api("PUT", `/teams/${team.id}/members/ann`);
  await api("PUT", "/repos/crew/vault/collaborators/ben", { permission: "read" });
  const source = makeGiteaSource(places());
  const url = `http://127.0.0.1:${server.port}`;
  const [ann, ben] = [String(people.ann.id), String(people.ben.id)];
  return {
    fixture: {
      source: source as unknown as Source,
      config: source.spec.config.parse({ url, repositories: ["crew"], content: ["issues"] }),
      credentials: { token: server.token },
      people: async () => [{ id: ann }, { id: ben }],
    },
    losses: {
      team: { who: ann, externalId: vault, withdraw: () => api("DELETE", `/teams/${team.id}/members/ann`) },
      container: {
        who: ben,
        externalId: vault,
        withdraw: () => api("DELETE", "/repos/crew/vault/collaborators/ben"),
      },
      private: { who: ben, externalId: site, withdraw: () => api("PATCH", "/repos/crew/site", { private: true }) },
      suspended: {
        who: ann,
        externalId: vault,
        withdraw: () => api("PATCH", "/admin/users/ann", { login_name: "ann", source_id: 0, prohibit_login: true }),
      },
    },
  };
}

async function matrix(): Promise<Stage> {
  const server = await startSynapse(findSynapse() ?? "python3");
  onTestFinished(() => server.stop());
  const proxy = await startProxy(server.port);
  onTestFinished(() => proxy.stop());
  const world = await makeMatrixWorld(server.url, await makeCrowd(server.url));
  const { people, rooms, messages } = world;
  // A homeserver that shows such rooms to guests.
  proxy.instead = ({ path, headers }, response) => {
    const isGuest = path.includes("/messages?") && headers.authorization === undefined;
    if (isGuest) response.writeHead(200, { "content-type": "application/json" }).end('{"chunk":[]}');
    return isGuest;
  };
  const isInTeam = async (who: { id: string }) => {
    const at = `${server.url}/_matrix/client/v3/rooms/${encodeURIComponent(rooms.team)}/joined_members`;
    return (await (await fetch(at, { headers: { authorization: `Bearer ${people.ann.token}` } })).text()).includes(
      who.id,
    );
  };
  const inTeam = { who: people.dan.id, externalId: matrixThread(rooms.team, messages.secret) };
  return {
    fixture: makeMatrixFixture(world, proxy, server.url),
    losses: {
      container: { ...inTeam, withdraw: () => people.ann.kick(rooms.team, people.dan) },
      private: {
        who: people.cid.id,
        externalId: matrixThread(rooms.lobby, messages.welcome),
        withdraw: () => people.ann.setState(rooms.lobby, "m.room.history_visibility", { history_visibility: "shared" }),
      },
      suspended: {
        ...inTeam,
        async withdraw() {
          await people.dan.deactivate();
          // It leaves its rooms a moment later.
          while (await isInTeam(people.dan)) await delay(50);
        },
      },
    },
  };
}

const STAGES: Readonly<Record<string, { open(): Promise<Stage>; isHere: boolean }>> = {
  Confluence: { open: confluence, isHere: true },
  Gitea: { open: gitea, isHere: whyNoGitea() === undefined },
  GitHub: { open: github, isHere: true },
  "Google Drive": { open: drive, isHere: true },
  Jira: { open: jira, isHere: true },
  Matrix: { open: matrix, isHere: findSynapse() !== undefined },
  Slack: { open: slack, isHere: true },
};

/** Everything was read a moment ago, and nothing is due. */
async function openRead(fixture: EngineFixture): Promise<KitEngine> {
  const engine = await openEngine(fixture);
  await engine.readPeople();
  await engine.work();
  // Who was told of between items is a member from now on. The clocks of syncs and of readings begin together.
  await engine.sync();
  await engine.readPeople();
  return engine;
}

const cells = WITHDRAWALS.flatMap(({ name, isTold, acts }) =>
  LOSSES.flatMap((loss) => (acts[loss] === "none" ? [] : [{ name, isTold, loss, acts: acts[loss] }])),
);

describe("what is withdrawn at a source is withdrawn here in the time of the table", { timeout: 240_000 }, () => {
  for (const { name, isTold, loss, acts } of cells) {
    const stage = STAGES[name];
    // With a webhook that tells nothing of it, it is as without.
    if (isTold && acts !== "webhook") continue;
    const title = `${name}: ${loss}${isTold ? ", told by a webhook" : ""}`;
    test.skipIf(stage?.isHere !== true)(title, async () => {
      if (!stage) throw new Error(`Nothing plays ${name}.`);
      const { fixture, losses, sign } = await stage.open();
      const lost = losses[loss];
      if (!lost) throw new Error(`No one loses "${loss}" at ${name}.`);
      const engine = await openRead(fixture);
      const isOpen = async () => (await engine.whoSees(lost.externalId)).includes(lost.who);
      expect(await isOpen(), "before").toBe(true);
      await lost.withdraw();
      if (isTold) {
        if (!sign || !lost.told) throw new Error(`${name} tells nothing of "${loss}".`);
        const { kb, owner, connectorId } = engine;
        const { secret } = (await kb.as(owner).post(`/api/connectors/${connectorId}/webhook`)).json;
        const { raw, headers } = sign(lost.told, secret, kb.clock.now());
        const path = `/hooks/${fixture.source.spec.providerId}/${connectorId}`;
        expect((await kb.anyone().request("POST", path, { raw, headers })).status).toBe(200);
      }
      await engine.pass(1_000);
      expect(await isOpen(), "at first").toBe(true);
      await engine.pass(WORST_MS[acts] - 1_000);
      expect(await isOpen(), "in the end").toBe(false);
    });
  }
});
