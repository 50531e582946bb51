import { z } from "zod";
import { baseUrlKey } from "#sources/base-url.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceRequest } from "#sources/http-contract.ts";
import { idAt, listed } from "#sources/listed.ts";

export const ReferenceConfig = z.strictObject({
  url: baseUrlKey("Give an address such as https://wiki.example.com.").meta({
    title: "URL",
    description: "Where the wiki is, such as https://wiki.example.com.",
  }),
});
export type ReferenceConfig = z.infer<typeof ReferenceConfig>;

/**
 * All calls to the provider: nothing else knows its URLs and its answers. Signing in, limits, repeats and failures are
 * `http`'s, which gives them as typed errors; links that lead elsewhere are followed by nobody who has a credential.
 */
export function makeClient({ config, http }: SourceContext<ReferenceConfig>) {
  const ask = (path: string): SourceRequest => ({ url: new URL(path, config.url), auth: true });
  const get = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => (await http.request(ask(path))).json(schema);

  /** A feed forgets: 410 is no refusal there. */
  const getFeed = async <T>(path: string, schema: z.ZodType<T>): Promise<T> =>
    (await http.request({ ...ask(path), expired: [410] })).json(schema);

  /** A listing page by page, in the order of the ids. */
  async function* pages<T>(path: string, list: z.ZodType<T>): AsyncGenerator<T, void> {
    // A link that isn't understood is no end: what comes after it would be taken for gone.
    const Listing = z.object({ values: list, next: z.string().optional() });
    for await (const page of http.pages(ask(path), (answer) => answer.json(Listing).next))
      yield page.json(Listing).values;
  }

  const at = (id: string) => encodeURIComponent(id);
  return {
    me: () => get("/me", z.object({ name: z.string(), latest: z.number() })),
    // One record of a shape that isn't known must not hide the others, and must not pass for one that is gone.
    spaces: () => pages("/spaces", listed(SpaceRecord, ID)),
    pagesOf: (space: string, after: string) =>
      pages(`/spaces/${at(space)}/pages?after=${at(after)}`, listed(PageRecord, ID)),
    page: (id: string) => get(`/pages/${at(id)}`, PageRecord),
    text: (id: string) => get(`/pages/${at(id)}/text`, z.object({ text: z.string(), revision: z.number() })),
    changes: (since: number) => getFeed(`/changes?since=${since}`, feed(z.union([PageChange, SpaceChange]))),
    users: () => pages("/users", z.array(UserRecord)),
    groups: () => pages("/groups", z.array(GroupRecord)),
    group: (id: string) => get(`/groups/${at(id)}`, GroupRecord),
    subscribe: async (to: { url: string; secret: string }) =>
      (await http.request({ ...ask("/subscriptions"), method: "POST", json: to })).json(Subscription),
    /** One that is gone already is what was wanted. */
    unsubscribe: (id: string) => http.request({ ...ask(`/subscriptions/${at(id)}`), method: "DELETE", allow: [404] }),
    peopleChanges: (since: number) =>
      getFeed(`/people-changes?since=${since}`, feed(z.union([UserChange, GroupChange]))),
  };
}

const ID = idAt("id", z.string());
const SpaceRecord = z.object({ id: z.string(), name: z.string() });
export type SpaceRecord = z.infer<typeof SpaceRecord>;

const PageRecord = z.object({
  id: z.string(),
  space: z.string(),
  title: z.string(),
  revision: z.number(),
  on: z.string().optional(),
  answers: z.string().optional(),
  formerly: z.string().optional(),
});
export type PageRecord = z.infer<typeof PageRecord>;

const UserRecord = z.object({ id: z.string(), email: z.string(), state: z.enum(["active", "suspended"]) });
export type UserRecord = z.infer<typeof UserRecord>;

const GroupRecord = z.object({
  id: z.string(),
  members: z.array(z.string()),
  isPublic: z.boolean(),
  etag: z.string(),
});
export type GroupRecord = z.infer<typeof GroupRecord>;

const Subscription = z.object({ id: z.string(), expiresIn: z.number() });

const feed = <T>(change: z.ZodType<T>) => z.object({ changes: z.array(change), latest: z.number() });
const PageChange = z.object({ seq: z.number(), page: z.string(), is: PageRecord.nullable() });
const SpaceChange = z.object({ seq: z.number(), space: z.string(), is: SpaceRecord.nullable() });
const UserChange = z.object({ seq: z.number(), user: z.string(), is: UserRecord.nullable() });
const GroupChange = z.object({
  seq: z.number(),
  group: z.string(),
  member: z.string().optional(),
  removed: z.literal(true).optional(),
});
