import { makeApiClient, type ApiClient, type Call } from "#api/client.ts";
import { reopenNotices } from "./closed-notices.ts";
import { Problem } from "./problem.ts";
import { signInAddress } from "./return-to.ts";

/** The typed client of this site's own server; the session is in its cookie. Its answers may be failures. */
export const client = makeApiClient({ baseUrl: window.location.origin });

/**
 * The calls of the contract. Each gives the data of its answer. A person who isn't signed in goes to the sign-in page
 * and comes back afterwards.
 *
 * @throws Problem for a failed answer
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

/** The result of a call of the client. */
interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The data of an answer. @throws Problem for a failed one, unless the person has to sign in first */
export async function dataIn<Data>({ data, error, response }: Answer<Data>): Promise<Data> {
  // A successful answer has data; one without JSON has none, and no caller reads it.
  if (response.ok) return data as Data;
  const problem = new Problem(isObject(error) ? error : { status: response.status });
  if (problem.code === "unauthenticated") await goToSignIn();
  throw problem;
}

function dataOf(ask: ApiClient[keyof ApiClient]) {
  // `Call` has the types of each path.
  const answerOf = ask as (path: string, init?: object) => Promise<Answer<never>>;
  return async (path: string, init?: object) => await dataIn(await answerOf(path, init));
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
