import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookRequest } from "#sources/webhook.ts";
import type { GiteaServer } from "./server.ts";

type Person = Awaited<ReturnType<GiteaServer["addPerson"]>>;

export type World = Awaited<ReturnType<typeof makeWorld>>;

/**
 * An organization on a running Gitea: two private repositories and a public one, with issues, a pull request with a review,
 * and comments. Olga owns it, Tim comes by a team, Carl is a collaborator, Sue is nobody there. Repositories and passwords
 * cost seconds, so that a world is made once, and `restore` makes good what was done to it.
 */
export async function makeWorld(server: GiteaServer, organization = "acme") {
  const { api } = server;
  const [olga, tim, sue] = [
    await server.addPerson("olga"),
    await server.addPerson("tim"),
    await server.addPerson("sue"),
  ];
  const at = (name: string) => `/repos/${organization}/${name}`;
  await api("POST", "/orgs", { username: organization, visibility: "public" }, olga.token);
  const repository = async (name: string, isPrivate: boolean, isInitialized: boolean) => {
    const body = { name, private: isPrivate, auto_init: isInitialized, default_branch: "main" };
    const { id } = await api<{ id: number }>("POST", `/orgs/${organization}/repos`, body, olga.token);
    return { id, fullName: `${organization}/${name}` };
  };
  const ids = {
    api: await repository("api", true, false),
    web: await repository("web", true, true),
    site: await repository("site", false, false),
  };
  const issue = async (name: string, title: string, body = `About ${title}.`) => {
    const { number } = await api<{ number: number }>("POST", `${at(name)}/issues`, { title, body }, olga.token);
    return number;
  };
  const comment = async (name: string, number: number, body: string) =>
    (await api<{ id: number }>("POST", `${at(name)}/issues/${number}/comments`, { body }, olga.token)).id;
  /** A file on a branch of its own, asked to be merged. */
  const pull = async (name: string, title: string) => {
    const branch = title.toLowerCase().replaceAll(/[^a-z]+/g, "-");
    const file = { content: Buffer.from(title).toString("base64"), message: title, new_branch: branch };
    await api("POST", `${at(name)}/contents/${branch}.md`, file, olga.token);
    const request = { title, body: `About ${title}.`, head: branch, base: "main" };
    return (await api<{ number: number }>("POST", `${at(name)}/pulls`, request, olga.token)).number;
  };
  const team = async (name: string, units: readonly string[], repositories: readonly string[]) => {
    const map = Object.fromEntries(units.map((unit) => [unit, "read"]));
    const body = { name, permission: "read", units_map: map, units, includes_all_repositories: false };
    const { id } = await api<{ id: number }>("POST", `/orgs/${organization}/teams`, body, olga.token);
    for (const each of repositories) await api("PUT", `/teams/${id}/repos/${organization}/${each}`);
    return id;
  };

  const notes = { content: Buffer.from("# Notes\n\nsome words").toString("base64"), message: "Take notes" };
  await api("POST", `${at("web")}/contents/notes-0.md`, notes, olga.token);
  const { pushes, hookSecret } = await listen(server, organization);
  const first = await issue("api", "Login fails");
  await issue("api", "Empty body", "");
  const commentId = await comment("api", first, "It fails for me too.");
  const slow = await issue("web", "Slow page");
  await comment("web", slow, "How slow?");
  const request = await pull("web", "Make it faster");
  const review = { event: "APPROVED", body: "Well done." };
  const { id: reviewId } = await api<{ id: number }>("POST", `${at("web")}/pulls/${request}/reviews`, review);
  await issue("site", "Typo");
  await issue("site", "Wrong colour");

  const world = {
    server,
    organization,
    ids,
    first,
    commentId,
    pull: request,
    reviewId,
    people: { olga, tim, sue } as { olga: Person; tim: Person; sue: Person; carl: Person },
    team: 0,
    gone: 0,
    api,
    comment,
    /** Issues that a test adds, which go when the world is restored. */
    async issue(name: keyof typeof ids, title: string): Promise<string> {
      const number = await issue(name, title);
      added.push(`${at(name)}/issues/${number}`);
      return `r${ids[name].id}#${number}`;
    },
    hookSecret,
    /** What Gitea sent of the last push; waits for the one of the last write. */
    lastPush: async () => pushes.after(written),
    /** Gives a file another name. */
    async rename(): Promise<{ from: string; to: string }> {
      const [from, to] = [`notes-${renamed}.md`, `notes-${++renamed}.md`];
      const { sha, content } = await api<{ sha: string; content: string }>("GET", `${at("web")}/contents/${from}`);
      const body = { from_path: from, content, sha, message: `Rename ${from}` };
      await api("PUT", `${at("web")}/contents/${to}`, body, olga.token);
      return { from, to };
    },
    /** Writes a file that is there. */
    async write(name: keyof typeof ids, path: string, text: string): Promise<void> {
      const { sha } = await api<{ sha: string }>("GET", `${at(name)}/contents/${path}`);
      const content = Buffer.from(text).toString("base64");
      written = pushes.count();
      await api("PUT", `${at(name)}/contents/${path}`, { content, sha, message: `Write ${path}` }, olga.token);
    },
    async restore(): Promise<void> {
      for (const path of added.splice(0)) if ((await server.status(path)) === 200) await api("DELETE", path);
      if (world.gone === 0 || (await server.status(`${at("web")}/issues/${world.gone}`)) !== 200)
        world.gone = await issue("web", "Broken link");
      if (world.team === 0 || (await server.status(`/teams/${world.team}`)) !== 200)
        world.team = await team(`readers-${++made}`, ["repo.issues", "repo.code"], ["api"]);
      await api("PUT", `/teams/${world.team}/members/${tim.login}`);
      if (world.people.carl === undefined || (await server.status(`/users/${world.people.carl.login}`)) !== 200)
        world.people.carl = await server.addPerson(`carl${++made}`);
      await api("PUT", `${at("web")}/collaborators/${world.people.carl.login}`, { permission: "read" }, olga.token);
    },
  };
  const added: string[] = [];
  let [made, renamed, written] = [0, 0, 0];
  await world.restore();
  return world;
}

/** Takes what a webhook of the organization sends of pushes. */
async function listen(server: GiteaServer, organization: string) {
  const hookSecret = "s3cret-of-the-hook";
  const requests: WebhookRequest[] = [];
  let heard: () => void = () => undefined;
  const receiver = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const headers = new Headers(
        Object.entries(request.headers).flatMap(([name, value]) =>
          typeof value === "string" ? [[name, value] as [string, string]] : [],
        ),
      );
      requests.push({ headers, rawBody: Buffer.concat(pieces), receivedAt: 0 });
      response.end();
      heard();
    });
  });
  receiver.unref();
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  // A server that listens over TCP has such an address.
  const { port } = receiver.address() as AddressInfo;
  const config = { url: `http://127.0.0.1:${port}/`, content_type: "json", secret: hookSecret };
  const hook = { type: "gitea", active: true, events: ["push"], config };
  await server.api("POST", `/orgs/${organization}/hooks`, hook);
  return {
    hookSecret,
    pushes: {
      count: () => requests.length,
      /** The newest one that came after so many. */
      async after(count: number): Promise<WebhookRequest> {
        while (requests.length <= count) await new Promise<void>((resolve) => (heard = resolve));
        const last = requests.at(-1);
        if (!last) throw new Error("Nothing came.");
        return last;
      },
    },
  };
}
