/** Users of a source: their identity according to the connector, and which of them are members here. */
import { idSchema, PageCursor, PageLimit, Timestamp } from "./common.ts";
import { ConnectorId, Count, Sync } from "./connector-records.ts";
import { answer, body, createRoute, problemAnswer, problems, z } from "./route.ts";

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
    /** When the source last reported it. */
    toldAt: Timestamp,
    member: z.object({ id: idSchema("user"), name: z.string() }).nullable(),
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
    /** The last run that read all of them. */
    wholeAt: Timestamp.nullable(),
    lastSync: z.union([Sync, z.null()]),
    /** Whether its users can be linked: an admin created it, and its instance is registered. */
    canLink: z.boolean(),
  })
  .openapi("PeopleSummary");
export type PeopleSummary = z.infer<typeof PeopleSummary>;

export const PeopleQuery = z.strictObject({
  unlinked: z.enum(["true", "false"]).default("false"),
  limit: PageLimit,
  cursor: PageCursor.optional(),
});
export type PeopleQuery = z.infer<typeof PeopleQuery>;

export const LinkPeopleBody = z.strictObject({
  links: z
    .array(z.strictObject({ principal: z.string().min(1).max(512), userId: idSchema("user").nullable() }))
    .min(1)
    .max(200),
});
export type LinkPeopleBody = z.infer<typeof LinkPeopleBody>;

const ById = z.object({ id: ConnectorId });

export const peopleRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/connectors/{id}/people",
    summary: "List the users that a connector's source named, and which members they are (owner and admins)",
    request: { params: ById, query: PeopleQuery },
    responses: {
      200: answer(
        "A page",
        z.object({ people: z.array(SourceUser), summary: PeopleSummary, nextCursor: z.string().nullable() }),
      ),
      default: problemAnswer,
    },
  }),
  link: createRoute({
    method: "put",
    path: "/api/connectors/{id}/people",
    summary: "Link users of a source to members, or unlink them (admin; never yourself)",
    request: { params: ById, body: body(LinkPeopleBody) },
    responses: {
      200: answer("The users as they are now", z.object({ people: z.array(SourceUser) })),
      default: problems("instance_not_trusted", "unknown_person", "unknown_member"),
    },
  }),
};
