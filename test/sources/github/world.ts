import { createHmac } from "node:crypto";
import { onTestFinished } from "vitest";
import type { WebhookRequest } from "#sources/webhook.ts";
import { tempDir } from "../../temp-dir.ts";
import { type FakeIssue, type FakeRepository, makeFakeGithub } from "./fake.ts";
import { startGithub } from "./server.ts";

export type World = Awaited<ReturnType<typeof makeWorld>>;

export const SECRET = "kb-canary-hook-91aa";

/**
 * An organization: `api` is private to a team and the teams below it, `web` to a collaborator, `inner` is internal, `site`
 * public. Olga owns it, Tim comes by a team below another, Mia is a member, Carl a collaborator from outside, Sue nobody.
 */
export async function makeWorld(folder = tempDir()) {
  const fake = makeFakeGithub();
  const people = {
    olga: fake.addUser("olga"),
    tim: fake.addUser("tim"),
    mia: fake.addUser("mia"),
    carl: fake.addUser("carl"),
    sue: fake.addUser("sue"),
  };
  const { organization } = fake;
  organization.owners.add(people.olga);
  for (const id of [people.tim, people.mia]) organization.members.add(id);
  organization.publicMembers.add(people.mia);
  const api = fake.addRepository("api", "private");
  const web = fake.addRepository("web", "private");
  const inner = fake.addRepository("inner", "internal");
  const site = fake.addRepository("site", "public");
  const crew = fake.addTeam();
  const kids = fake.addTeam(crew.id);
  crew.repositories.add(api.id);
  kids.members.add(people.tim);
  web.direct.add(people.carl);
  const first = fake.addIssue(api, "Login fails", { labels: ["bug"] });
  const comment = fake.addComment(api, first, "It fails for me too.");
  for (const title of ["Empty body", "Third", "Fourth", "Fifth"]) fake.addIssue(api, title);
  const slow = fake.addIssue(web, "Slow page");
  fake.addComment(web, slow, "How slow?");
  const review = { id: 4_294_967_296 + fake.nextId(), user: people.olga, state: "APPROVED", body: "Well done." };
  const pull = fake.addIssue(web, "Make it faster", { isPull: true, reviews: [review] });
  const remark = fake.addComment(web, pull, "Why not a loop?", true);
  const gone = fake.addIssue(web, "Broken link");
  fake.addIssue(inner, "Inside");
  fake.addIssue(site, "Typo");
  const server = await startGithub(fake, folder);
  onTestFinished(() => server.stop());
  return {
    fake,
    server,
    folder,
    people,
    repositories: { api, web, inner, site },
    teams: { crew, kids },
    issues: { first, slow, pull, gone },
    comment,
    remark,
    review,
    apiUrl: `http://127.0.0.1:${server.port}/api/v3`,
  };
}

export function idOf({ id }: FakeRepository, { number }: FakeIssue): string {
  return `r${id}#${number}`;
}

/** A request of a webhook, signed as GitHub signs it. */
export function hookOf(event: string, payload: unknown, secret = SECRET): WebhookRequest {
  const rawBody = Buffer.from(JSON.stringify(payload));
  const signature = `sha256=${createHmac("sha256", secret).update(rawBody).digest("hex")}`;
  return {
    headers: new Headers({ "x-github-event": event, "x-hub-signature-256": signature }),
    rawBody,
    receivedAt: 0,
  };
}
