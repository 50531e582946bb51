import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { makeGoogleDriveSource } from "#sources/google-drive/index.ts";
import { AT_EACH_PAGE, type Failing, type Failure, type KitFixture } from "../../kit/fixture.ts";
import { type Instead, keyFile, refuse, startGoogle } from "./server.ts";
import { DOC, World } from "./world.ts";

export const [KB, ANN, BEN, CID, DAN, OTH, OUT] = ["kb", "ann", "ben", "cid", "dan", "oth"]
  .map((name) => `${name}@acme.test`)
  .concat("out@other.test") as [string, string, string, string, string, string, string];
export const TEAM = "team@acme.test";
const LEADS = "leads@acme.test";

const to = (who: string, role = "reader") => ({ type: "user", who, role });
export const toGroup = (who: string, role = "reader") => ({ type: "group", who, role });

/** A Workspace with what Drive has: folders that are shared, limited ones, shared drives, groups in groups. */
export async function makeDriveWorld() {
  const world = new World();
  for (const email of [KB, ANN, BEN, CID, DAN, OTH, OUT]) world.user(email);
  world.group(LEADS, [DAN]);
  world.group(TEAM, [LEADS]);
  const root = world.folder("My Drive", "");
  delete world.at(root).parent;
  const plans = world.folder("Plans", root, { grants: [to(ANN, "writer"), toGroup(TEAM)] });
  const limited = world.folder("Private", plans, { isLimited: true, grants: [to(BEN)] });
  const engineering = world.drive("Engineering", [
    to(KB, "organizer"),
    to(ANN, "organizer"),
    toGroup(TEAM),
    to(CID, "fileOrganizer"),
  ]);
  const sales = world.drive("Sales", [to(KB, "organizer"), to(CID, "organizer"), to(OTH)], { driveMembersOnly: true });
  const ops = world.folder("Ops", engineering, { grants: [to(BEN)] });
  const board = world.folder("Board", engineering, { isLimited: true, grants: [to(OUT)] });
  const inner = world.folder("Inner", plans);
  const places = { root, plans, limited, engineering, sales, ops, board, inner };
  const files = {
    plan: world.add("plan.md", plans),
    budget: world.add("Budget", plans, { mimeType: DOC, grants: [to(CID), to(OUT)] }),
    secret: world.add("private.txt", limited),
    deep: world.add("deep.txt", inner),
    handbook: world.add("Handbook", root, {
      mimeType: DOC,
      grants: [{ type: "domain", who: "acme.test", role: "reader", allowFileDiscovery: true }],
    }),
    open: world.add("open.txt", root, { grants: [{ type: "anyone", role: "reader", allowFileDiscovery: true }] }),
    link: world.add("link.txt", root, { grants: [{ type: "anyone", role: "reader", allowFileDiscovery: false }] }),
    design: world.add("design.txt", engineering),
    runbook: world.add("runbook.txt", ops, { grants: [to(OUT)] }),
    minutes: world.add("minutes.txt", board),
    deal: world.add("deal.txt", sales, { grants: [to(ANN)] }),
    /** Somebody else's, shown to the account alone: who else reads it is not told. */
    shown: world.add("shown.txt", "elsewhere", { owner: ANN, grants: [to(KB), to(DAN)] }),
  };
  delete world.at(files.shown).driveId;
  const google = await startGoogle(world);
  onTestFinished(() => google.stop());
  return { world, google, places, files };
}
export type DriveWorld = Awaited<ReturnType<typeof makeDriveWorld>>;

export const idOf = ({ world }: Pick<DriveWorld, "world">, email: string) => world.users.get(email)?.permissionId ?? "";

/** Who may read a file there, as far as the account is told. */
export async function whoSees({ world, files }: DriveWorld, externalId: string, now?: number): Promise<string[]> {
  const item = world.items.get(externalId);
  if (!item || !world.mayRead(item, KB, now)) return [];
  const readers = [...world.users.keys()].filter((email) => world.mayRead(item, email, now));
  const told = externalId === files.shown ? readers.filter((email) => email === KB) : readers;
  return told.map((email) => idOf({ world }, email)).sort();
}

export function peopleOf({ world }: DriveWorld) {
  return [...world.users.values()]
    .filter(({ isGone, suspended }) => !isGone && !suspended)
    .map(({ permissionId }) => ({ id: permissionId }));
}

export function sourceFor({ google: { url } }: Pick<DriveWorld, "google">) {
  return makeGoogleDriveSource({
    places: { apiUrl: url, directoryUrl: url, tokenUrl: `${url}/token` },
    limits: { perMinute: 60_000, burst: 10_000 },
    batching: AT_EACH_PAGE,
  });
}

/** The kit's fixture over our fake. */
export async function makeDriveFixture(there?: DriveWorld): Promise<KitFixture> {
  const all = there ?? (await makeDriveWorld());
  const { world, google, places, files } = all;
  const source = sourceFor(all);
  let count = 0;
  let isShared = true;
  let isInside = false;
  const inDrive = (driveId: string) =>
    [...world.items.values()]
      .filter((item) => item.driveId === driveId && item.mimeType === "text/plain")
      .map(({ id }) => id);
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config: source.spec.config.parse({}),
    credentials: { key: keyFile(), subject: KB },
    badCredentials: { key: keyFile({ client_email: "kb-canary@other.iam.gserviceaccount.com" }), subject: KB },
    badConfigs: [
      { drives: ["../x"] },
      { folders: [] },
      { maxFileMb: 0 },
      { myDrive: false, drives: ["drive-of-nobody"] },
    ],
    endMarks: { "": "nextPageToken" },
    minItems: 12,
    lists: [
      {
        at: /\/drive\/v3\/drives\?/,
        has: (id) => [places.engineering, places.sales].includes(world.items.get(id)?.driveId ?? ""),
      },
    ],
    narrowerScope: { include: [], exclude: [places.engineering, places.limited] },
    async add() {
      world.add(`more-${++count}.txt`, places.ops);
      return world.add(`more-${++count}.txt`, places.inner);
    },
    async edit() {
      world.change(files.plan, { content: `Content of another: ${++count}.` });
      return files.plan;
    },
    async remove() {
      world.destroy(files.minutes);
      world.change(files.design, { isTrashed: true });
      return files.design;
    },
    async addOdd() {
      const odd = ["", " ", "\u200b", "日本語 🗂️ עברית", "🗂️".repeat(200), "x".repeat(10_000), "a/b\\c", "two\nlines"];
      return odd.map((name) => world.add(name, places.plans));
    },
    async moveItem() {
      isInside = !isInside;
      world.change(files.deep, { parent: isInside ? places.limited : places.inner });
      return files.deep;
    },
    async changeAccess() {
      isShared = !isShared;
      // Of the folder alone: its log has nothing of what is below.
      world.change(places.plans, { grants: [...(isShared ? [to(ANN, "writer")] : []), toGroup(TEAM)] });
      return files.plan;
    },
    async removePerson() {
      const ben = world.users.get(BEN);
      if (ben) ben.suspended = true;
      return idOf(all, BEN);
    },
    async removeGroup() {
      world.groups.delete(LEADS);
      return [idOf(all, DAN)];
    },
    people: async () => peopleOf(all),
    whoSees: (externalId) => whoSees(all, externalId),
    isPublic: async (externalId) => world.isPublic(world.at(externalId)),
    async expireCursor() {
      world.floor = world.latest + 1;
      world.touch(places.root);
    },
    async swapAccount() {
      const ids = [...world.items.values()].filter(
        (item) => item.mimeType !== "application/vnd.google-apps.folder" && world.mayRead(item, OTH),
      );
      return { credentials: { key: keyFile(), subject: OTH }, externalIds: ids.map(({ id }) => id) };
    },
    subscriptions: async () => google.channels.map(({ address }) => ({ url: address })),
    async notification() {
      const secret = "kb-canary-channel-77aa";
      const token = createHmac("sha256", secret).update("google-drive channel").digest("base64url");
      const headers = new Headers({
        "x-goog-channel-id": "c1",
        "x-goog-channel-token": token,
        "x-goog-resource-state": "change",
        "x-goog-message-number": String(++count),
      });
      return { secret, request: { headers, rawBody: new Uint8Array(), receivedAt: Date.now() } };
    },
    leadAway: async (origin) => void (google.mediaAt = origin),
    requests: () => google.requests,
    async fail(kind: Failure): Promise<Failing> {
      const held: ServerResponse[] = [];
      const heal = () => {
        google.instead = undefined;
        for (const response of held) response.destroy();
        google.isRevoked = false;
      };
      const lists = (path: string, query: URLSearchParams, driveId: string) =>
        path.endsWith("/files") && query.get("driveId") === driveId;
      const answers = (instead: Instead, externalIds: readonly string[] = []) => {
        google.instead = instead;
        return { externalIds, heal };
      };
      switch (kind) {
        case "unreachable":
          return answers((_asked, response) => (response.destroy(), true));
        case "unauthorized":
          google.isRevoked = true;
          return { externalIds: [], heal };
        case "rate_limited":
          return answers(
            (_asked, response) => (refuse(response, 403, "userRateLimitExceeded", { "retry-after": "3600" }), true),
          );
        case "hang":
          // What waits for an answer gets none later, either.
          return answers((_asked, response) => held.push(response) > 0);
        case "one_container":
          return answers(
            ({ path, query }, response) =>
              lists(path, query, places.sales) && (refuse(response, 403, "domainPolicy"), true),
            inDrive(places.sales),
          );
        case "two_containers":
          return answers(
            ({ path, query }, response) => {
              if (lists(path, query, places.sales)) return (refuse(response, 403, "domainPolicy"), true);
              return lists(path, query, places.engineering) && (refuse(response, 500, "internalError"), true);
            },
            [...inDrive(places.sales), ...inDrive(places.engineering)],
          );
        case "one_item":
          return answers(
            ({ path, query }, response) =>
              path.endsWith(files.open) &&
              query.get("alt") === "media" &&
              (refuse(response, 403, "cannotDownloadAbusiveFile"), true),
            [files.open],
          );
      }
    },
  };
}
