import type { SourceUser } from "#api/people.ts";
import { describeLink } from "#api/people-words.ts";
import { plural } from "#api/plural.ts";
import { connect } from "#cli/api.ts";
import { command, fieldsOf } from "#cli/command.ts";
import { usageFailure } from "#cli/failure.ts";
import { findConnector, memberIdsOf } from "#cli/find.ts";
import { makeOutput } from "#cli/output.ts";
import type { Column } from "#cli/table.ts";
import { CONNECTOR } from "./options.ts";

const PEOPLE_COLUMNS: readonly Column<SourceUser>[] = [
  { title: "user", value: (user) => user.principal },
  { title: "name", value: (user) => user.name ?? user.login ?? "", isFlexible: true },
  { title: "email", value: (user) => user.email ?? "" },
  { title: "member", value: describeLink, isFlexible: true },
];

/** Page size: the most that the route returns. */
const PAGE = 200;

/** `kb connectors people CONNECTOR`: users that the source named, linked or not. */
export const listPeople = command(
  {
    summary: "List the users that a connector's source named, and which members they are.",
    arguments: CONNECTOR,
    options: [
      { flags: "--unlinked", summary: "only those who are not linked to a member" },
      { flags: "--cursor <cursor>", summary: "the next page, as the last one named it" },
    ],
    examples: ["kb connectors people forge --unlinked"],
    exitCodes: [3, 4, 7],
    fields: [fieldsOf("get", "/api/connectors/{id}/people", "people")],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const { id, name } = await findConnector(api, input.args.connector);
    const list = await api.get("/api/connectors/{id}/people", {
      params: {
        path: { id },
        query: { limit: PAGE, unlinked: input.options.unlinked ? "true" : "false", cursor: input.options.cursor },
      },
    });
    const output = makeOutput(input, deps, api.settings.defaults);
    output.result(list, () =>
      output.table(
        list.people,
        PEOPLE_COLUMNS,
        input.options.unlinked ? "Everyone is linked." : "The source hasn't named anyone yet.",
      ),
    );
    const { users, linked, groups, oldestGroupAt } = list.summary;
    const oldest = oldestGroupAt === null ? "" : `, the oldest read ${oldestGroupAt.slice(0, 16).replace("T", " ")}`;
    output.talk(`${linked} of ${plural(users, "user")} linked; ${plural(groups, "group")}${oldest}.`);
    if (list.nextCursor !== null) output.talk(`More: kb connectors people "${name}" --cursor ${list.nextCursor}`);
  },
);

/** `kb connectors link-person CONNECTOR USER MEMBER`: links them by hand, or unlinks them. */
export const linkPerson = command(
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
    exitCodes: [3, 4, 5, 7],
    fields: [fieldsOf("put", "/api/connectors/{id}/people", "people")],
    isRemote: true,
  },
  async (input, deps) => {
    const { connector, user: principal, member } = input.args;
    const api = await connect(input, deps);
    if ((member === undefined) !== input.options.remove) {
      throw usageFailure("Name a member, or give --remove.", "kb connectors link-person --help");
    }
    const { id } = await findConnector(api, connector);
    const [userId = null] = member === undefined ? [] : await memberIdsOf(api, [member]);
    const answer = await api.put("/api/connectors/{id}/people", {
      params: { path: { id } },
      body: { links: [{ principal, userId }] },
    });
    const output = makeOutput(input, deps, api.settings.defaults);
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
