import { makeApiClient } from "#api/client.ts";
import { signInAddress } from "./return-to.ts";
import { reopenNotices } from "./closed-notices.ts";
import { Problem } from "./problem.ts";

/** The typed client of this site's own server; the session is in its cookie. */
export const api = makeApiClient({ baseUrl: window.location.origin });

/** The result of a call of the client. */
interface Answer {
  data?: unknown;
  error?: unknown;
  response: Response;
}

type DataOf<A extends Answer> = Exclude<A["data"], undefined>;

/**
 * Returns the data of an answer. A person who isn't signed in goes to the sign-in page and comes back afterwards.
 *
 * @throws Problem for a failed answer
 */
export async function take<A extends Answer>(call: Promise<A>): Promise<DataOf<A>> {
  const answer = await call;
  // A successful answer has data; one without JSON has none, and no caller reads it.
  if (answer.response.ok) return answer.data as DataOf<A>;
  const problem = new Problem(isObject(answer.error) ? answer.error : { status: answer.response.status });
  if (problem.code === "unauthenticated") await goToSignIn();
  throw problem;
}

/** Redirects to the sign-in page. Never resolves, so that nothing waiting for an answer shows a failure until then. */
function goToSignIn(): Promise<never> {
  reopenNotices();
  const { pathname, search, hash } = window.location;
  window.location.replace(signInAddress(pathname + search + hash));
  return new Promise(() => undefined);
}

function isObject(value: unknown): value is Record<string, never> {
  return typeof value === "object" && value !== null;
}
