import { flag, maybe, text, count } from "#sources/lenient.ts";
import { z } from "zod";
import { linkedPage } from "#sources/atlassian/pages.ts";
import { Id, Instant } from "#sources/atlassian/parse.ts";
import { idAt } from "#sources/listed.ts";
import { externalIdOf } from "./ids.ts";

const isTrue = flag;

/**
 * A user. A Cloud user has an `accountId`. A Data Center user has a `userKey` that never changes and a `username` that
 * can.
 */
export const UserRecord = z
  .object({
    type: text,
    accountId: text,
    accountType: text,
    accountStatus: text,
    userKey: text,
    username: text,
    displayName: text,
    publicName: text,
    email: text,
    status: text,
    isGuest: isTrue,
    isExternalCollaborator: isTrue,
    externalCollaborator: isTrue,
  })
  .transform(({ accountId, userKey, username, displayName, publicName, email, ...more }) => ({
    id: accountId ?? userKey,
    name: username,
    displayName: displayName ?? publicName,
    emailAddress: email === "" ? undefined : email,
    type: more.type,
    accountType: more.accountType,
    status: more.accountStatus ?? more.status,
    isGuest: more.isGuest === true || more.isExternalCollaborator === true || more.externalCollaborator === true,
  }));
export type UserRecord = z.infer<typeof UserRecord>;
export const UserPage = linkedPage(UserRecord);

export const GroupRecord = z.object({ id: text, name: text });
export type GroupRecord = z.infer<typeof GroupRecord>;
export const GroupPage = linkedPage(GroupRecord);

/** The total number of matches that a search reports. */
export const Found = z.object({ totalSize: count });

export const SpaceRecord = z.object({
  id: Id,
  key: z.string().min(1),
  name: z.string().catch(""),
  type: text,
  status: text,
});
export type SpaceRecord = z.infer<typeof SpaceRecord>;
export const SpacePage = linkedPage(SpaceRecord, idAt("id", Id));

/** A grant for a space or for the application, as Cloud and as Data Center report it. */
export const CloudGrant = z.object({
  principal: z.object({ type: text, id: text }),
  operation: z.object({ key: text, targetType: text }),
});
export const CloudGrantPage = linkedPage(CloudGrant);
export const ServerGrants = z.array(
  z.object({
    subject: maybe(z.object({ type: text, name: text, userKey: text })),
    operation: z.object({ operationKey: text, targetType: text }),
  }),
);

const Storage = z.object({ storage: maybe(z.object({ value: z.string() })) });

/** A page, blog post, folder and the like, in version 2 of Cloud's API. */
export const CloudContent = z.object({
  id: Id,
  status: text,
  title: z.string().catch(""),
  spaceId: Id,
  parentId: Id.nullish(),
  parentType: z.string().nullish(),
  authorId: text,
  createdAt: Instant,
  version: z.object({ number: z.number(), createdAt: Instant, authorId: text }),
  body: maybe(Storage),
});
export type CloudContent = z.infer<typeof CloudContent>;
export const CloudContentPage = linkedPage(CloudContent, idAt("id", Id));

/** A node above a page that isn't a page, such as a folder. Its readers aren't requested here. */
export const CloudNode = z.object({ id: Id, spaceId: Id, parentId: Id.nullish(), parentType: z.string().nullish() });

const Subjects = z.object({
  results: z.array(z.unknown()),
  size: z.number().optional(),
  limit: z.number().optional(),
});
export const Restriction = z.object({ restrictions: z.object({ user: Subjects, group: Subjects }) });
export type Restriction = z.infer<typeof Restriction>;

/** Attachments of Cloud have ids like `att123`. */
const ContentId = z.preprocess((id) => (typeof id === "string" ? id.replace(/^att(?=\d)/, "") : id), Id);

const Where = z.object({ id: Id, key: text });

/** A content in version 1 of the API, the only version that Data Center has. */
export const Content = z.object({
  id: ContentId,
  type: z.string(),
  status: text,
  title: z.string().catch(""),
  space: Where.nullish(),
  ancestors: z
    .array(z.object({ id: ContentId, type: text }))
    .nullish()
    .catch(undefined),
  container: z.object({ id: ContentId, type: text, title: text }).nullish(),
  history: maybe(z.object({ createdBy: maybe(UserRecord), createdDate: Instant })),
  version: z.object({ number: z.number(), when: Instant, by: maybe(UserRecord) }).nullish(),
  body: maybe(Storage),
  restrictions: maybe(z.object({ read: z.unknown() })),
  metadata: maybe(z.object({ mediaType: text })),
  extensions: maybe(
    z.object({
      mediaType: text,
      fileSize: count,
      inlineProperties: maybe(z.object({ originalSelection: text })),
    }),
  ),
});
export type Content = z.infer<typeof Content>;
const AnyContent = z.object({ id: ContentId, type: z.string() });
/** A page of contents. Records that can't be parsed are identified by their external ids. */
export const ContentPage = linkedPage(
  Content,
  AnyContent.transform((content) => externalIdOf(content)),
);

/** A page or blog post, in the same form for both deployments. */
export interface PageRecord {
  id: string;
  type: "page" | "blogpost";
  title: string;
  spaceId: string;
  /** The parent node; undefined at the top of the space. */
  parent: NodeRef | undefined;
  version: number;
  createdAt: number | undefined;
  updatedAt: number | undefined;
  authorId: string | undefined;
  author?: UserRecord | undefined;
  /** The text in storage format. Absent if it was not requested. */
  body?: string | undefined;
  /** True = the text is too large for any response. */
  isTooLarge?: true;
}

/** A node in the tree of a space. */
export interface NodeRef {
  id: string;
  type: string;
}
