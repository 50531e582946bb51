import { isRecord } from "#core/json-record.ts";
import { ApiError } from "#api/errors.ts";
import { ConsentDecision } from "#api/oauth.ts";
import type { Authenticator } from "#server/http/authenticate.ts";
import { findRouteAccess } from "#server/http/auth.ts";
import { originOf, type AppContext } from "#server/http/env.ts";
import { OPEN_JSON } from "#server/http/body-bounds.ts";
import { parseJson, readText } from "#server/http/request.ts";
import { PATHS } from "./policy.ts";
import { MAX_REGISTRATION_BYTES } from "./registration.ts";
import type { OAuthService } from "./service.ts";

export interface SubmissionOptions {
  oauth: OAuthService;
  authenticator: Authenticator;
}

/**
 * Handles `POST /oauth/authorize`, which contains the decision of the consent page as a form or as JSON, like the
 * page's JSON route. A post without a decision is a request for authorization, and is handled as a GET. Source: RFC
 * 6749 §4.1.1, docs/decisions/0015.
 */
export async function answerSubmission(c: AppContext, { oauth, authenticator }: SubmissionOptions): Promise<Response> {
  const isJson = (c.req.header("content-type") ?? "").startsWith("application/json");
  const fields = readFields(await readText(c, MAX_REGISTRATION_BYTES), isJson);
  const { uid, ...rest } = fields;
  if (uid === undefined && !("decision" in fields)) return goOnAsGet(fields);
  const decision = ConsentDecision.safeParse(rest);
  if (typeof uid !== "string" || !decision.success) {
    throw new ApiError("invalid_request", { message: "A decision needs uid, csrf and decision (allow or deny)." });
  }
  const rule = findRouteAccess("POST", "/oauth/consent/{uid}/decision");
  if (rule === undefined) throw new Error("The decision has no row in http/auth.ts.");
  const { headers } = c.req.raw;
  const caller = await authenticator.authenticate(rule, { url: c.req.url, headers, origin: originOf(c) });
  if (caller.type !== "actor") throw new Error("The decision was opened by a caller of another kind.");
  const decided = await oauth.consent.decide(caller.actor, uid, headers, decision.data);
  if (isJson) return Response.json(decided, { headers: { "Cache-Control": "no-store" } });
  return redirect(decided.redirectTo);
}

function goOnAsGet(fields: Record<string, unknown>): Response {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const asked = query.toString();
  if (asked.length > MAX_QUERY_CHARS) {
    const message = `The request for authorization has ${asked.length} characters, and at most ${MAX_QUERY_CHARS} fit into an address.`;
    throw new ApiError("invalid_request", { message });
  }
  return redirect(`${PATHS.authorize}?${asked}`);
}

/** The longest query that proxies and browsers forward. */
const MAX_QUERY_CHARS = 8_000;

function redirect(to: string): Response {
  return new Response(null, { status: 303, headers: { Location: to, "Cache-Control": "no-store" } });
}

/** Returns a form's fields or a JSON object's members. A field that occurs several times becomes a list. */
function readFields(text: string, isJson: boolean): Record<string, unknown> {
  if (isJson) return readJson(text);
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const former = values.get(name);
    if (former === undefined) values.set(name, [value]);
    else former.push(value);
  }
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? all[0] : all]));
}

function readJson(text: string): Record<string, unknown> {
  const value = parseJson(text, OPEN_JSON);
  if (isRecord(value)) return value;
  throw new ApiError("invalid_request", { message: "The body must be one JSON object." });
}
