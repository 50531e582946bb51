import { makeApiClient } from "#api/client.ts";
import { signInAddress } from "#server/web/app/return-to.ts";
import { reopenNotices } from "./closed-notices.ts";
import { Problem } from "./problem.ts";

/** The typed client of this site's own server; the session travels in its cookie. */
export const api = makeApiClient({ baseUrl: window.location.origin });

/** What `openapi-fetch` gives for a call. */
interface Answer {
  data?: unknown;
  error?: unknown;
  response: Response;
}

type DataOf<A extends Answer> = Exclude<A["data"], undefined>;

/**
 * The data of an answer. Somebody who is not signed in goes to the sign-in page and comes back afterwards.
 *
 * @throws Problem for a failed answer
 */
export async function take<A extends Answer>(call: Promise<A>): Promise<DataOf<A>> {
  const answer = await call;
  // Data is there when the answer is a success; a success without JSON has none, and nobody reads it.
  if (answer.response.ok) return answer.data as DataOf<A>;
  const problem = new Problem(isObject(answer.error) ? answer.error : { status: answer.response.status });
  if (problem.code === "unauthenticated") await goToSignIn();
  throw problem;
}

/** Leaves for the sign-in page. Never resolves: nothing that waits for an answer draws a failure meanwhile. */
function goToSignIn(): Promise<never> {
  reopenNotices();
  const { pathname, search, hash } = window.location;
  window.location.replace(signInAddress(pathname + search + hash));
  return new Promise(() => undefined);
}

function isObject(value: unknown): value is Record<string, never> {
  return typeof value === "object" && value !== null;
}
