import { describeLink } from "#api/people-words.ts";
import { plural } from "#api/plural.ts";
import { route } from "#cli/line/command.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { CONNECTOR, findConnector, memberIdOf } from "#cli/records/find.ts";
import { flexible, minute } from "#cli/terminal/table.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";

/** Page size: the maximum that the route returns. */
const PAGE = 200;

/** `kb connectors people CONNECTOR`: lists users that the source named, linked or not. */
export const listPeople = remoteCommand(
  {
    summary: "List the users that a connector's source named, and the members linked to them.",
    of: CONNECTOR,
    options: {
      "--unlinked": "only users who are not linked to a member",
      "--cursor <cursor>": "the cursor that the previous page printed",
    },
    examples: ["kb connectors people forge --unlinked"],
    call: route("get", "/api/connectors/{id}/people", "people"),
  },
  async ({ output, found: { name }, options: { unlinked, cursor }, send }) => {
    const list = await send({ query: { limit: PAGE, unlinked: unlinked ? "true" : "false", cursor } });
    output.result(list, ({ people }) =>
      output.table(
        people,
        {
          user: "principal",
          name: flexible((user) => user.name ?? user.login),
          email: "email",
          member: flexible(describeLink),
        },
        unlinked ? "Everyone is linked." : "The source hasn't named anyone yet.",
      ),
    );
    const { users, linked, groups, oldestGroupAt } = list.summary;
    const oldest = oldestGroupAt === null ? "" : `, the oldest read ${minute(oldestGroupAt)}`;
    output.talk(`${linked} of ${plural(users, "user")} linked; ${plural(groups, "group")}${oldest}.`);
    if (list.nextCursor !== null) output.talk(`More: kb connectors people "${name}" --cursor ${list.nextCursor}`);
  },
);

/** `kb connectors link-person CONNECTOR USER MEMBER`: manually links a user to a member, or unlinks them. */
export const linkPerson = remoteCommand(
  {
    summary: "Link a user of a connector's source to a member, or unlink them (admins only; you can't link yourself).",
    details: "A link applies to every connector of the same instance. The audit log records it.",
    arguments: {
      "<connector>": CONNECTOR.summary,
      "<user>": "the user, as listed by `kb connectors people`",
      "[member]": "the member: id, email or name; leave it out with --remove",
    },
    options: { "--remove": "unlink instead" },
    examples: ["kb connectors link-person forge user:forge:git.acme.test:7 ann@acme.test"],
    exitCodes: [3, 5],
    call: route("put", "/api/connectors/{id}/people", "people"),
  },
  async ({ api, output, args, options, send }) => {
    const { connector, user: principal, member } = args;
    if ((member === undefined) !== options.remove) {
      throw usageFailure("Name a member, or give --remove.", "kb connectors link-person --help");
    }
    const { id } = await findConnector(api, connector);
    const userId = (await memberIdOf(api, member)) ?? null;
    const answer = await send({ at: { id }, body: { links: [{ principal, userId }] } });
    output.result(answer, ({ people }) => {
      for (const { name, principal, member } of people) {
        const who = name ?? principal;
        output.talk(member === null ? `"${who}" isn't linked to a member.` : `"${who}" is ${member.name} now.`);
      }
    });
  },
);
