import { DATE_FIELDS, DETAILS, GROUPINGS, SORT_ORDERS, TOOL_KINDS } from "#api/tools.ts";
import { oneOf, route, several } from "#cli/line/command.ts";
import { PAGE_OPTIONS, pageOf } from "#cli/line/options.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";
import { printAnswer } from "#cli/records/search-answer.ts";

export const search = remoteCommand(
  {
    summary: "Search the items that you can see.",
    details: `Use words, "exact phrases", -without, prefix*. Without words, the newest items come first. Put -- before words that start with a dash.`,
    arguments: { "[query...]": "2 to 6 words that the text would contain" },
    options: {
      "--kind <kind>": oneOf(TOOL_KINDS, "only these"),
      "--status <status>": oneOf(["open", "done"], "of tasks"),
      "--assignee <person>": "me, a name, an email or an entity id",
      "--people <person>": "me, a name, an email or an entity id, in any role",
      "--source <source>": "a provider (github) or one of its sources (github:acme/web)",
      "--field <name:value>": several("a field of the item (status:draft, created:2024-03); may be repeated"),
      "--after <day>": "from this day on: 2026-11-01, today, 7d (7 days ago), +7d (in 7 days)",
      "--before <day>": "up to and including this day",
      "--date-field <field>": oneOf(DATE_FIELDS, "the date that --after and --before are about"),
      "--sort-by <order>": oneOf(SORT_ORDERS, "order of the results"),
      "--group-by <group>": oneOf(GROUPINGS, "also count the results by this field"),
      "--detail <detail>": oneOf(DETAILS, "length of the snippets"),
      "--live": "also search with your own connections' search tools, for at most a second",
      "--explain": "also explain each score (admins only, with the scope kb:admin)",
      ...PAGE_OPTIONS,
    },
    examples: [
      "kb search quarterly plan --kind page --after 30d",
      "kb search '\"exact phrase\"' --json kbId,title,url",
    ],
    exitCodes: [6],
    call: route("get", "/api/connectors/search", "results"),
  },
  async ({ api, output, args, options, send }) => {
    const { kind, status, assignee, people, source, field, after, before, dateField, sortBy, groupBy, detail } =
      options;
    const { defaults } = api.settings;
    const answer = await send({
      query: {
        query: args.query.join(" "),
        kind,
        status,
        assignee,
        people,
        source: source ?? defaults.source,
        field,
        after,
        before,
        dateField,
        sortBy,
        groupBy,
        detail,
        ...pageOf(options, api.settings, 50),
        live: options.live ? "true" : undefined,
        explain: options.explain ? "true" : undefined,
      },
    });
    output.result(answer, () => printAnswer(answer, output));
  },
);
