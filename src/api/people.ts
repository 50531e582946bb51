/** Users of a source: their identity according to the connector, and which of them are members here. */
import { PageQuery } from "#api/common.ts";
import { byId, Count, idSchema, MemberRef, nextCursor, Timestamp } from "./common.ts";
import { Sync } from "./connector-records.ts";
import { answer, get, put, z } from "./route.ts";

/** Why a user of a source isn't a member here. */
export const UnlinkedReason = z.enum([
  "suspended",
  "gone",
  "instance_not_registered",
  "connector_not_admin_made",
  "email_missing",
  "email_not_verified",
  "email_domain_not_listed",
  "no_match",
]);
export type UnlinkedReason = z.infer<typeof UnlinkedReason>;

export const SourceUser = z
  .object({
    principal: z.string(),
    name: z.string().nullable(),
    login: z.string().nullable(),
    email: z.string().nullable(),
    state: z.enum(["active", "suspended", "gone"]),
    /** When the source last reported the user. */
    toldAt: Timestamp,
    member: MemberRef.nullable(),
    /** How they were linked: by their own account, a verified address, or an admin. */
    linkedBy: z.enum(["account", "email", "admin"]).nullable(),
    reason: UnlinkedReason.nullable(),
  })
  .openapi("SourceUser");
export type SourceUser = z.infer<typeof SourceUser>;

export const PeopleSummary = z
  .object({
    users: Count,
    linked: Count,
    groups: Count,
    /** When the least recently read group was read. */
    oldestGroupAt: Timestamp.nullable(),
    /** When the last run that read all of them took place. */
    wholeAt: Timestamp.nullable(),
    lastSync: z.union([Sync, z.null()]),
    /** Whether the connector's users can be linked: an admin created it, and its instance is registered. */
    canLink: z.boolean(),
  })
  .openapi("PeopleSummary");
export type PeopleSummary = z.infer<typeof PeopleSummary>;

export const LinkPeopleBody = z.strictObject({
  links: z
    .array(z.strictObject({ principal: z.string().min(1).max(512), userId: idSchema("user").nullable() }))
    .min(1)
    .max(200),
});
export type LinkPeopleBody = z.infer<typeof LinkPeopleBody>;

const ById = byId("connector");

export const peopleRoutes = {
  list: get(
    "/api/connectors/{id}/people",
    "List the users that a connector's source named, and the members linked to them (its owner and admins only)",
    {
      params: ById,
      query: z.strictObject({
        unlinked: z.enum(["true", "false"]).default("false"),
        ...PageQuery.shape,
      }),
      200: answer("A page", { people: z.array(SourceUser), summary: PeopleSummary, nextCursor }),
    },
  ),
  link: put(
    "/api/connectors/{id}/people",
    "Link users of a source to members, or unlink them (admins only; you can't link yourself)",
    {
      params: ById,
      body: LinkPeopleBody,
      200: answer("The users as they are now", { people: z.array(SourceUser) }),
      problems: ["instance_not_trusted", "unknown_person", "unknown_member"],
    },
  ),
};
