import type { SourceUser } from "#api/people.ts";
import { describeLink } from "#api/people-words.ts";
import { plural } from "#api/plural.ts";
import { fieldsOf } from "#cli/command.ts";
import { usageFailure } from "#cli/failure.ts";
import { findConnector, memberIdsOf } from "#cli/find.ts";
import { flexible, minute, type Columns } from "#cli/table.ts";
import { remoteCommand } from "#cli/remote-command.ts";
import { CONNECTOR } from "./options.ts";

const PEOPLE_COLUMNS: Columns<SourceUser> = {
  user: (user) => user.principal,
  name: flexible((user) => user.name ?? user.login ?? ""),
  email: (user) => user.email ?? "",
  member: flexible(describeLink),
};

/** Page size: the most that the route returns. */
const PAGE = 200;

/** `kb connectors people CONNECTOR`: users that the source named, linked or not. */
export const listPeople = remoteCommand(
  {
    summary: "List the users that a connector's source named, and which members they are.",
    arguments: CONNECTOR,
    options: [
      { flags: "--unlinked", summary: "only those who are not linked to a member" },
      { flags: "--cursor <cursor>", summary: "the next page, as the last one named it" },
    ],
    examples: ["kb connectors people forge --unlinked"],
    exitCodes: [3],
    fields: [fieldsOf("get", "/api/connectors/{id}/people", "people")],
  },
  async ({ api, output, args, options }) => {
    const { id, name } = await findConnector(api, args.connector);
    const list = await api.get("/api/connectors/{id}/people", {
      params: {
        path: { id },
        query: { limit: PAGE, unlinked: options.unlinked ? "true" : "false", cursor: options.cursor },
      },
    });
    output.result(list, () =>
      output.table(
        list.people,
        PEOPLE_COLUMNS,
        options.unlinked ? "Everyone is linked." : "The source hasn't named anyone yet.",
      ),
    );
    const { users, linked, groups, oldestGroupAt } = list.summary;
    const oldest = oldestGroupAt === null ? "" : `, the oldest read ${minute(oldestGroupAt)}`;
    output.talk(`${linked} of ${plural(users, "user")} linked; ${plural(groups, "group")}${oldest}.`);
    if (list.nextCursor !== null) output.talk(`More: kb connectors people "${name}" --cursor ${list.nextCursor}`);
  },
);

/** `kb connectors link-person CONNECTOR USER MEMBER`: links them by hand, or unlinks them. */
export const linkPerson = remoteCommand(
  {
    summary: "Link a user of a connector's source to a member, or unlink them (admin; never yourself).",
    details: "A link holds for every connector of the same instance. The audit records it.",
    arguments: [
      ...CONNECTOR,
      { name: "user", summary: "as in kb connectors people", required: true },
      { name: "member", summary: "id, email or name; leave out with --remove" },
    ],
    options: [{ flags: "--remove", summary: "unlink instead" }],
    examples: ["kb connectors link-person forge user:forge:git.acme.test:7 ann@acme.test"],
    exitCodes: [3, 5],
    fields: [fieldsOf("put", "/api/connectors/{id}/people", "people")],
  },
  async ({ api, output, args, options }) => {
    const { connector, user: principal, member } = args;
    if ((member === undefined) !== options.remove) {
      throw usageFailure("Name a member, or give --remove.", "kb connectors link-person --help");
    }
    const { id } = await findConnector(api, connector);
    const [userId = null] = member === undefined ? [] : await memberIdsOf(api, [member]);
    const answer = await api.put("/api/connectors/{id}/people", {
      params: { path: { id } },
      body: { links: [{ principal, userId }] },
    });
    output.result(answer, () => {
      for (const person of answer.people) {
        const who = person.name ?? person.principal;
        output.talk(
          person.member === null ? `"${who}" isn't linked to a member.` : `"${who}" is ${person.member.name} now.`,
        );
      }
    });
  },
);
