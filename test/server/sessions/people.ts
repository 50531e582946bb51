import { makeMailbox } from "../../mailbox.ts";
import { makeServer, type TestAnswer, type TestServer, type TestServerOptions } from "../../helpers.ts";

/** A server that sends e-mail into a box. */
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
export async function verifiedAt(kb: TestServer, email: string): Promise<Date | null | undefined> {
  return (await kb.store.users.findByEmail(email))?.emailVerifiedAt;
}

/** What two answers must have in common so that nobody learns from the difference. */
export function outside(answer: TestAnswer) {
  const body: Record<string, unknown> = { ...answer.json };
  delete body["requestId"];
  return { status: answer.status, body, headers: [...answer.headers.keys()].sort() };
}
