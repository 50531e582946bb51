import { createHash, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { FOLDER, type Item, type World } from "./world.ts";

/** What came to the fake. */
export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
}
export type Instead = (asked: Asked, response: ServerResponse) => boolean;

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
export const SERVICE = "kb-reader@kb-test.iam.gserviceaccount.com";

/** The key file of the service account. */
export function keyFile(more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    type: "service_account",
    client_email: SERVICE,
    private_key: privateKey,
    private_key_id: "k1",
    ...more,
  });
}

/** A page of the fake has as few, so that there are several. */
const PAGE = 6;
const DRIVE_SCOPE = "https://www.googleapis.com/auth/drive.readonly";

/**
 * A fake of ours of Google's Drive and Directory, from the discovery documents that Google publishes: there is nothing to
 * run of theirs, and the emulator has no permissions, changes, groups or shared drives.
 */
export async function startGoogle(world: World) {
  const google = {
    url: "",
    requests: 0,
    paths: [] as string[],
    instead: undefined as Instead | undefined,
    /** Whether domain-wide delegation was granted for the directory. */
    hasDirectory: true,
    /** Tokens are given to nobody, and those that were are not accepted. */
    isRevoked: false,
    /** Ids of what listings leave out for now, though it is there. */
    unlisted: new Set<string>(),
    mediaAt: undefined as string | undefined,
    /** Whom it notifies. */
    channels: [] as { id: string; resourceId: string; address: string; token: string }[],
    stop: () => undefined as void,
  };
  const tokens = new Map<string, { email: string; scopes: string[] }>();
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy(error as Error);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens over TCP has such an address.
  google.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  google.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return google;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    google.requests++;
    const url = new URL(request.url ?? "/", google.url);
    const asked = { method: request.method ?? "GET", path: decodeURIComponent(url.pathname), query: url.searchParams };
    google.paths.push(asked.path);
    const body = await readBody(request);
    if (google.instead?.(asked, response)) return;
    if (asked.path === "/token") return mint(new URLSearchParams(body), response);
    const token = tokens.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "");
    if (!token || google.isRevoked) return refuse(response, 401, "authError");
    const me = token.email;
    const isDirectory = asked.path.startsWith("/admin/directory/");
    const wanted = isDirectory ? "admin.directory" : asked.path.includes("userinfo") ? "openid" : DRIVE_SCOPE;
    if (!token.scopes.some((scope) => scope.includes(wanted)))
      return asked.path.includes("userinfo")
        ? refuse(response, 401, "authError")
        : refuse(response, 403, "insufficientPermissions");
    const parts = asked.path.split("/").slice(3);
    if (isDirectory) return directory(asked.path.split("/").slice(4), asked.query, response);
    if (asked.path.startsWith("/drive/v2/permissionIds/")) {
      const email = parts[1] ?? "";
      const id = world.users.get(email)?.permissionId ?? world.groups.get(email)?.permissionId;
      return id === undefined ? refuse(response, 404, "notFound") : json(response, { kind: "drive#permissionId", id });
    }
    switch (parts[0]) {
      case "about": {
        const permissionId = world.users.get(me)?.permissionId ?? `90${me.length}`;
        return json(response, { user: { kind: "drive#user", displayName: me, permissionId, emailAddress: me } });
      }
      case "drives": {
        const all = [...world.drives.values()].filter((drive) => world.isMemberOf(drive, me));
        return paged(
          response,
          asked.query,
          "drives",
          all.map(({ id, name, restrictions }) => ({ id, name, restrictions })),
        );
      }
      case "channels": {
        const { id, resourceId } = JSON.parse(body);
        const known = google.channels.findIndex((each) => each.id === id && each.resourceId === resourceId);
        if (known < 0) return refuse(response, 404, "channelIdNotFound");
        google.channels.splice(known, 1);
        return void response.writeHead(204).end();
      }
      case "changes":
        if (parts[1] === "watch") {
          const { id, address, token: channelToken, expiration, type } = JSON.parse(body);
          if (type !== "web_hook" || asked.method !== "POST") return refuse(response, 400, "invalid");
          const resourceId = `resource-${asked.query.get("driveId") ?? "user"}`;
          google.channels.push({ id, resourceId, address, token: channelToken });
          return json(response, { kind: "api#channel", id, resourceId, resourceUri: asked.path, expiration });
        }
        return changes(me, parts[1], asked.query, response);
      case "files":
        return files(me, parts.slice(1), asked.query, response);
      default:
        return refuse(response, 404, "notFound");
    }
  }

  function mint(form: URLSearchParams, response: ServerResponse): void {
    const [head = "", body = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const isSigned = verify(
      "RSA-SHA256",
      Buffer.from(`${head}.${body}`),
      createPublicKey(publicKey),
      Buffer.from(signature, "base64url"),
    );
    const claims = isSigned ? JSON.parse(Buffer.from(body, "base64url").toString("utf8")) : {};
    const isFine = claims.iss === SERVICE && claims.aud === `${google.url}/token` && !google.isRevoked;
    if (!isFine) return json(response, { error: "invalid_grant" }, 400);
    const scopes = String(claims.scope).split(" ");
    const isDelegated =
      claims.sub === undefined ||
      (world.users.has(claims.sub) && (google.hasDirectory || scopes.every((scope) => scope === DRIVE_SCOPE)));
    if (!isDelegated) return json(response, { error: "unauthorized_client" }, 401);
    const token = `ya29.${tokens.size}.${createHash("md5").update(body).digest("hex")}`;
    tokens.set(token, { email: claims.sub ?? SERVICE, scopes });
    json(response, { access_token: token, expires_in: 3_599, token_type: "Bearer" });
  }

  function directory(parts: string[], query: URLSearchParams, response: ServerResponse): void {
    if (parts[0] === "customer")
      return json(response, { domains: world.domains.map((domainName) => ({ domainName, verified: true })) });
    if (parts[0] === "users") {
      const users = [...world.users].filter(
        ([email, { isGone }]) => !isGone && world.domains.some((domain) => email.endsWith(`@${domain}`)),
      );
      return paged(
        response,
        query,
        "users",
        users.map(([email, { directoryId, name, suspended }]) => ({
          id: directoryId,
          primaryEmail: email,
          name: { fullName: name },
          suspended,
          archived: false,
        })),
      );
    }
    const group = parts[0] === "groups" && parts[2] === "members" ? (parts[1] ?? "") : "";
    if (!world.groups.has(group)) return refuse(response, 404, "notFound");
    const people = [...world.users].filter(([email, { isGone }]) => !isGone && world.isIn(group, email));
    const nested = (world.groups.get(group)?.members ?? []).filter((member) => world.groups.has(member));
    const all = [
      ...people.map(([email, { directoryId, suspended }]) => ({
        id: directoryId,
        email,
        type: "USER",
        status: suspended ? "SUSPENDED" : "ACTIVE",
      })),
      ...nested.map((email) => ({ id: email, email, type: "GROUP" })),
    ];
    paged(response, query, "members", all);
  }

  function changes(me: string, what: string | undefined, query: URLSearchParams, response: ServerResponse): void {
    const key = query.get("driveId") ?? "";
    if (key !== "" && ![...world.drives.values()].some((drive) => drive.id === key && world.isMemberOf(drive, me)))
      return refuse(response, 404, "notFound");
    if (what === "startPageToken") return json(response, { startPageToken: String(world.latest) });
    const from = Number(query.get("pageToken"));
    if (!Number.isInteger(from) || from < world.floor) return refuse(response, 400, "invalid");
    const all = world.log.filter((entry) => entry.at > from && entry.key === key);
    const page = all.slice(0, PAGE);
    const isLast = page.length === all.length;
    json(response, {
      changes: page.map(({ id, at }) => {
        const item = world.items.get(id);
        const isThere = item && (item.driveId ?? "") === key && visible(item, me);
        return {
          changeType: "file",
          fileId: id,
          time: new Date(at).toISOString(),
          removed: !isThere,
          ...(isThere && { file: show(item, me) }),
        };
      }),
      ...(isLast
        ? { newStartPageToken: String(Math.max(world.latest, from)) }
        : { nextPageToken: String(page.at(-1)?.at) }),
    });
  }

  function visible(item: Item, me: string): boolean {
    return world.mayRead(item, me);
  }

  function show(item: Item, me: string) {
    const isGoogle = item.mimeType.startsWith("application/vnd.google-apps.");
    const isOfDrive = item.driveId !== undefined;
    const grants = world.grantsOf(item);
    const mayShare = grants.some(
      ({ grant }) => grant.who === me && ["owner", "writer", "organizer"].includes(grant.role),
    );
    const above = world.items.get(item.parent ?? "");
    const isAboveShown = isOfDrive || (above && visible(above, me));
    return {
      id: item.id,
      name: item.name,
      mimeType: item.mimeType,
      ...(item.parent !== undefined && isAboveShown && { parents: [item.parent] }),
      ...(isOfDrive && { driveId: item.driveId, hasAugmentedPermissions: item.grants.length > 0 }),
      trashed: world.isTrashed(item),
      createdTime: new Date(item.created).toISOString(),
      modifiedTime: new Date(item.modified).toISOString(),
      ...(item.mimeType !== FOLDER &&
        !isGoogle && {
          size: String(Buffer.byteLength(item.content)),
          md5Checksum: createHash("md5").update(item.content).digest("hex"),
        }),
      webViewLink: `https://drive.google.com/file/d/${item.id}/view`,
      ...(item.owner !== undefined && {
        owners: [
          {
            displayName: item.owner,
            emailAddress: item.owner,
            permissionId: world.users.get(item.owner)?.permissionId,
          },
        ],
      }),
      capabilities: { canDownload: item.canDownload ?? true },
      inheritedPermissionsDisabled: item.isLimited,
      ...(!isOfDrive && mayShare && { permissions: grants.map((grant) => world.permission(grant, false)) }),
    };
  }

  function files(me: string, parts: string[], query: URLSearchParams, response: ServerResponse): void {
    const [id, what] = parts;
    if (id === undefined) return list(me, query, response);
    const drive = world.drives.get(id);
    if (drive && what === "permissions") {
      if (!world.isMemberOf(drive, me)) return refuse(response, 403, "insufficientFilePermissions");
      return paged(
        response,
        query,
        "permissions",
        drive.grants.map((grant) => world.permission({ grant, isInherited: false }, true)),
      );
    }
    const item =
      id === "root"
        ? [...world.items.values()].find(({ parent, owner }) => parent === undefined && owner === me)
        : world.items.get(id);
    if (id === "root" && !item) return json(response, { id: `root-of-${me.length}`, name: "My Drive" });
    if (!item || !visible(item, me)) return refuse(response, 404, "notFound");
    if (what === "permissions") {
      return paged(
        response,
        query,
        "permissions",
        world.grantsOf(item).map((grant) => world.permission(grant, item.driveId !== undefined)),
      );
    }
    if (what === "export" || query.get("alt") === "media") {
      if (google.mediaAt !== undefined)
        return void response.writeHead(302, { location: `${google.mediaAt}/media/${id}` }).end();
      if (item.canDownload === false) return refuse(response, 403, "cannotDownloadFile");
      const type = query.get("mimeType") ?? item.mimeType;
      const isSmall = what === "export" && (type === "text/plain" || type === "text/csv");
      const content = (isSmall ? item.plain : undefined) ?? item.content;
      if (what === "export" && content.length > 10 * 1024 * 1024)
        return refuse(response, 403, "exportSizeLimitExceeded");
      response.writeHead(200, { "content-type": type }).end(content);
      return;
    }
    json(response, show(item, me));
  }

  function list(me: string, query: URLSearchParams, response: ServerResponse): void {
    const q = query.get("q") ?? "";
    const driveId = query.get("driveId");
    if (driveId !== null && query.get("corpora") !== "drive") return refuse(response, 400, "invalid");
    const parent = /'([^']+)' in parents/.exec(q)?.[1];
    const only = /mimeType='([^']+)'/.exec(q)?.[1];
    const not = [...q.matchAll(/mimeType!='([^']+)'/g)].map(([, type]) => type);
    const isOwned = (item: Item) => item.parent === undefined || visible(world.items.get(item.parent) ?? item, me);
    const found = [...world.items.values()].filter(
      (item) =>
        !world.isTrashed(item) &&
        !google.unlisted.has(item.id) &&
        visible(item, me) &&
        (driveId === null ? item.driveId === undefined : item.driveId === driveId) &&
        (parent === undefined || item.parent === parent) &&
        (only === undefined || item.mimeType === only) &&
        !not.includes(item.mimeType) &&
        (!q.includes("sharedWithMe=true") || !isOwned(item)),
    );
    paged(
      response,
      query,
      "files",
      found.map((item) => show(item, me)),
    );
  }
}

function paged(response: ServerResponse, query: URLSearchParams, key: string, all: unknown[]): void {
  const from = Number((query.get("pageToken") ?? "p0").slice(1));
  const rest = all.slice(from + PAGE);
  json(response, { [key]: all.slice(from, from + PAGE), ...(rest.length > 0 && { nextPageToken: `p${from + PAGE}` }) });
}

/** A failure in Google's form. */
export function refuse(
  response: ServerResponse,
  status: number,
  reason: string,
  headers: Record<string, string> = {},
): void {
  const error = {
    code: status,
    message: `The request failed: ${reason}.`,
    errors: [{ domain: "global", reason, message: reason }],
  };
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify({ error }));
}

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json; charset=UTF-8" }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}
