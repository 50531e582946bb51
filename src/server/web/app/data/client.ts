import { makeApiClient, type ApiClient, type Call } from "#api/client.ts";
import { reopenNotices } from "./closed-notices.ts";
import { Problem } from "./problem.ts";
import { signInAddress } from "./return-to.ts";

/** The typed client for this site's own server. The session is in its cookie. Its responses may be failures. */
export const client = makeApiClient({ baseUrl: window.location.origin });

/**
 * The calls of the API contract. Each returns the data of its response. A person who isn't signed in is sent to the
 * sign-in page and comes back afterwards.
 *
 * @throws Problem for a failed response
 */
export const api: {
  get: Call<"get">;
  post: Call<"post">;
  put: Call<"put">;
  patch: Call<"patch">;
  delete: Call<"delete">;
} = {
  get: dataOf(client.GET),
  post: dataOf(client.POST),
  put: dataOf(client.PUT),
  patch: dataOf(client.PATCH),
  delete: dataOf(client.DELETE),
};

/** The result of a call with the client. */
interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** Returns the data of a response. @throws Problem for a failed response, unless the person has to sign in first */
export async function dataIn<Data>({ data, error, response }: Answer<Data>): Promise<Data> {
  // A successful response has data. A response without JSON has none, and no caller reads it.
  if (response.ok) return data as Data;
  const problem = new Problem(isObject(error) ? error : { status: response.status });
  if (problem.code === "unauthenticated") await goToSignIn();
  throw problem;
}

function dataOf(ask: ApiClient[keyof ApiClient]) {
  // The type `Call` describes each path.
  const answerOf = ask as (path: string, init?: object) => Promise<Answer<never>>;
  return async (path: string, init?: object) => await dataIn(await answerOf(path, init));
}

/**
 * Redirects to the sign-in page. Never resolves, so that code that waits for the response shows no failure in the
 * meantime.
 */
function goToSignIn(): Promise<never> {
  reopenNotices();
  const { pathname, search, hash } = window.location;
  window.location.replace(signInAddress(pathname + search + hash));
  return new Promise(() => undefined);
}

function isObject(value: unknown): value is Record<string, never> {
  return typeof value === "object" && value !== null;
}
