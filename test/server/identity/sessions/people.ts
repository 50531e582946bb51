import { makeMailbox } from "../../../mailbox.ts";
import {
  makeServer,
  type TestAnswer,
  type TestServer,
  type TestServerOptions,
  type TestUser,
} from "../../../helpers.ts";

/** A server that sends email into a box. */
export async function makeMailingServer(settings: TestServerOptions["settings"] = {}) {
  const mailbox = makeMailbox();
  const kb = await makeServer({ settings, outside: { mailer: mailbox } });
  return { kb, mailbox };
}

/** The `name=value` pairs of an answer's cookies, as a browser sends them back. */
export function cookiesOf(answer: TestAnswer): string {
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0] ?? "")
    .join("; ");
}

/** The headers of a browser that holds the cookies of an answer. */
export function withCookies(answer: TestAnswer): { headers: Record<string, string> } {
  return { headers: { cookie: cookiesOf(answer) } };
}

/** When the address of an account was proved; undefined without such an account. */
export async function verifiedAt(kb: TestServer, email: string): Promise<number | null | undefined> {
  return (await kb.store.users.findByEmail(email))?.emailVerifiedAt;
}

/** What two answers must have in common so that nobody learns from the difference. */
export function outside(answer: TestAnswer) {
  const body: Record<string, unknown> = { ...answer.json };
  delete body["requestId"];
  return { status: answer.status, body, headers: [...answer.headers.keys()].sort() };
}

/** A client that the person let in, with a code of it and a token that it made. */
export async function addGrant(kb: TestServer, { userId, workspaceId }: TestUser, name: string): Promise<void> {
  const at = kb.clock.now();
  const grant = { userId, workspaceId, grantId: `gra_${name}`, clientId: "kb-cli", clientName: "kb", place: "here" };
  const times = { authenticatedAt: at, createdAt: at, lastUsedAt: null, expiresAt: at + 1e9, revokedAt: null };
  await kb.database.write
    .insertInto("grants")
    .values({ ...grant, ...times, scopes: "mcp:read", isDevice: 0 })
    .execute();
  await kb.database.write
    .insertInto("oauth_records")
    .values({
      model: "AccessToken",
      idHash: name,
      sealed: "",
      grantId: grant.grantId,
      userCodeHash: null,
      consumedAt: null,
      expiresAt: null,
    })
    .execute();
}

/** The grants that live, and the grants of the codes and tokens that are left. */
export async function grantsOf(kb: TestServer): Promise<{ living: string[]; records: (string | null)[] }> {
  const grants = await kb.database.read.selectFrom("grants").selectAll().where("revokedAt", "is", null).execute();
  const records = await kb.database.read.selectFrom("oauth_records").select("grantId").execute();
  return { living: grants.map(({ grantId }) => grantId), records: records.map(({ grantId }) => grantId) };
}
