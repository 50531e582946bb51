import { describeActs } from "#api/act-words.ts";
import { describeActivity, describeNotWatched } from "#api/activity-words.ts";
import { describeHiddenItems, describeReadByNobody, describeStale } from "#api/hidden-items.ts";
import { count } from "#api/plural.ts";
import { describeReadAgain } from "#api/read-again-words.ts";
import { oneOf, route } from "#cli/line/command.ts";
import { FILE_LIST_OPTIONS, fileQueryOf, printFiles } from "#cli/records/file-list.ts";
import { CONNECTOR, findConnector } from "#cli/records/find.ts";
import { openingsOf } from "#cli/records/openings.ts";
import type { ConnectorRecord, SourceKind } from "#cli/records/records.ts";
import { flexible, minute, optional, time } from "#cli/terminal/table.ts";
import { parsePair } from "#cli/line/values.ts";
import { callCommand, remoteCommand } from "#cli/calls/remote-command.ts";
import { CREDENTIAL_OPTIONS, SET_OPTION, credentialsOf } from "./options.ts";

export const listConnectors = remoteCommand(
  {
    summary: "List connectors.",
    options: {
      "--mine": "only connectors that you own",
      "--provider <provider>": "only this kind of source",
      "--state <state>": oneOf(
        ["pending_auth", "active", "paused", "needs_reauth", "needs_owner", "error", "deleting"],
        "only in this state",
      ),
      "--find <text>": "only those with this in their name",
    },
    examples: ["kb connectors list"],
    fields: [route("get", "/api/connectors", "connectors")],
  },
  async ({ api, output, options: { mine, provider: providerId, state, find: q } }) => {
    const path = mine ? "/api/connectors/mine" : "/api/connectors";
    const connectors: ConnectorRecord[] = await api.list(path, "connectors", { query: { providerId, state, q } });
    output.list(
      "connectors",
      connectors,
      {
        id: "id",
        name: flexible("name"),
        provider: optional("providerId"),
        state: stateOf,
        activity: optional({ value: ({ activity }) => activity?.type, shown: activityOf, isFlexible: true }),
        indexed: { value: ({ counts }) => counts && count(counts.indexed), shown: indexedOf },
        failed: ({ counts }) => counts && count(counts.failed),
        "last sync": time(({ lastSync }) => lastSync?.finishedAt),
      },
      "You can see no connectors. Add one with kb connectors add.",
    );
  },
);

/** `kb connectors sources`: lists the sources that can be connected. */
export const listSources = callCommand(
  "get",
  "/api/connectors/sources",
  {
    summary: "List the kinds of sources that you can connect, and their settings.",
    examples: ["kb connectors sources"],
    key: "sources",
  },
  ({ sources }, { output }) =>
    output.table<SourceKind>(
      sources,
      {
        provider: "providerId",
        name: flexible("name"),
        kinds: "kinds",
        available: flexible(({ available, reason = "no" }) => (available ? "yes" : reason)),
        settings: flexible(({ configSchema }) => Object.keys(configSchema.properties ?? {})),
      },
      "This server has no sources.",
    ),
);

export const showConnector = remoteCommand(
  {
    summary: "Show one connector.",
    of: CONNECTOR,
    examples: ["kb connectors show docs"],
    call: route("get", "/api/connectors/{id}", "connector"),
  },
  async ({ api, output, found }) => {
    // Lists omit fields that require the audit or the groups. Members who don't manage the connector get only the fields in the list.
    const connector = found.owner === undefined ? found : await findConnector(api, found.id);
    output.result({ connector }, () => {
      const { counts } = connector;
      output.record([
        ["id", connector.id],
        ["name", connector.name],
        ["provider", connector.providerId],
        ["state", stateOf(connector)],
        ["activity", activityOf(connector)],
        ["owner", connector.owner?.name],
        ["visible to", connector.access?.visibility],
        ["config", output.format === "table" ? settingsOf(connector.config) : connector.config],
        ["include", connector.scope?.include],
        ["exclude", connector.scope?.exclude],
        ["schedule", connector.schedule ? `every ${connector.schedule.everyMinutes} minutes` : "by hand"],
        ["next sync", connector.nextRunAt],
        [
          "last sync",
          connector.lastSync ? `${connector.lastSync.state} ${connector.lastSync.finishedAt ?? ""}` : "never",
        ],
        ["hidden since", connector.aclStale?.since],
        ["oldest group read", connector.freshness?.oldestGroupAt],
        ["requests for groups", connector.freshness?.requests],
        ["items", counts && countsOf(counts, output.format === "table")],
        ["key", connector.hasKey === true ? `${connector.keyPrefix ?? ""}…` : undefined],
        ...openingsOf(connector),
      ]);
      if (connector.aclStale) output.talk(describeStale(connector.aclStale, atTime));
      if (connector.notWatched) output.talk(describeNotWatched(connector.notWatched, atTime));
      if (connector.readByNobody) {
        output.talk(describeReadByNobody(connector.readByNobody));
        output.talk(`See its users: kb connectors people ${connector.id}`);
      }
      const { isPushed = false } = connector;
      const readAgain = counts && describeReadAgain({ isPushed, counts });
      if (readAgain !== undefined) output.talk(readAgain);
      for (const note of counts === undefined ? [] : describeHiddenItems(counts)) output.talk(note);
      for (const note of actsOf(connector)) output.talk(note);
    });
  },
);

function indexedOf({ counts, readByNobody }: ConnectorRecord): string {
  if (counts === undefined) return "";
  return readByNobody === undefined ? count(counts.indexed) : `${count(counts.indexed)}, read by no one`;
}

/** Returns the connector's current activity; undefined for members who don't manage it. */
function activityOf({ activity, isPushed }: ConnectorRecord): string | undefined {
  if (activity === undefined || isPushed === undefined) return undefined;
  return describeActivity({ activity, isPushed }, atTime);
}

/** Describes the actions that the person may perform; empty for the owner, and if the server is too old to report them. */
function actsOf({ allowed, owner, state, isPushed }: ConnectorRecord): string[] {
  if (allowed === undefined || owner === undefined || isPushed === undefined) return [];
  return describeActs({ allowed, owner, state, isPushed });
}

function atTime(at: string): string {
  return `at ${minute(at)}`;
}

/** Formats a connector's settings in the form of `--set`. */
function settingsOf(config: ConnectorRecord["config"]): string[] {
  return Object.entries(config ?? {}).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
}

/** Formats item counts by state. People see only the states that have items. */
function countsOf(counts: NonNullable<ConnectorRecord["counts"]>, isForPerson: boolean): string[] {
  return Object.entries(counts)
    .filter(([name, value]) => !isForPerson || value > 0 || name === "indexed")
    .map(
      ([name, value]) =>
        `${count(value)} ${isForPerson ? name.replace(/[A-Z]/g, (char) => ` ${char.toLowerCase()}`) : name}`,
    );
}

export const listConnectorFiles = remoteCommand(
  {
    summary: "List a connector's items that you can see.",
    of: CONNECTOR,
    options: FILE_LIST_OPTIONS,
    examples: ["kb connectors files docs --state failed"],
    call: route("get", "/api/connectors/{id}/files", "files"),
  },
  async ({ api, output, options, send }) =>
    printFiles(await send({ query: fileQueryOf(options, api.settings) }), output),
);

/** `kb connectors browse PROVIDER`: lists the content that a connector could index; stores nothing. */
export const browse = remoteCommand(
  {
    summary: "Browse what a source holds before you connect it.",
    arguments: { "<provider>": "filesystem, github, …" },
    options: {
      ...SET_OPTION,
      ...CREDENTIAL_OPTIONS,
      "--parent <id>": "only what is directly inside this node",
      "--find <text>": "only names that contain this",
      "--cursor <cursor>": "the next page",
    },
    examples: ["kb connectors browse filesystem --set root=/srv/docs"],
    call: route("post", "/api/connectors/browse", "nodes"),
  },
  async ({ output, args, options, deps, send }) => {
    const answer = await send({
      body: {
        providerId: args.provider,
        config: Object.fromEntries(options.set.map((text) => parsePair(text, "--set"))),
        ...(await credentialsOf(options, deps)),
        parent: options.parent,
        query: options.find,
        cursor: options.cursor,
      },
    });
    output.result(answer, ({ nodes, nextCursor }) => {
      output.table(
        nodes,
        {
          id: flexible("id"),
          title: flexible("title"),
          kind: "kind",
          items: "count",
          opens: ({ expandable }) => (expandable ? "yes" : ""),
        },
        "Nothing found.",
      );
      if (nextCursor !== null) output.talk(`More: --cursor ${nextCursor}`);
    });
  },
);

function stateOf(connector: ConnectorRecord): string {
  return connector.stateReason ? `${connector.state} (${connector.stateReason})` : connector.state;
}
