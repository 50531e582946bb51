import type { BodyOf } from "#api/client.ts";
import { connect, isEmpty, type Api } from "#cli/api.ts";
import { argument, flagOption, listOption, textOption, wordOption, type CommandInput } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import type { Deps } from "#cli/deps.ts";
import { usageFailure } from "#cli/failure.ts";
import { accessOf, findConnector } from "#cli/find.ts";
import { openingsOf } from "#cli/openings.ts";
import { count, makeOutput, plural } from "#cli/output.ts";
import type { ConnectorRecord, SourceKind } from "#cli/records.ts";
import { shortTime } from "#cli/table.ts";
import { parseDuration, readSecret, parsePair } from "#cli/values.ts";
import { fileQueryOf, printFiles } from "./files.ts";

/** `kb connectors list` */
export async function listConnectors(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const path = flagOption(input, "mine") ? "/api/connectors/mine" : "/api/connectors";
  const connectors: ConnectorRecord[] = await api.list(path, "connectors", {
    query: {
      providerId: textOption(input, "provider"),
      state: wordOption(input, "state"),
      q: textOption(input, "find"),
    },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result({ connectors, nextCursor: null }, () =>
    output.table(
      connectors,
      [
        { title: "id", value: (item) => item.id },
        { title: "name", value: (item) => item.name, isFlexible: true },
        { title: "provider", value: (item) => item.providerId, isOptional: true },
        { title: "state", value: stateOf },
        { title: "indexed", value: (item) => (item.counts === undefined ? "" : count(item.counts.indexed)) },
        { title: "failed", value: (item) => (item.counts === undefined ? "" : count(item.counts.failed)) },
        {
          title: "last sync",
          value: (item) => item.lastSync?.finishedAt?.slice(0, 16).replace("T", " ") ?? "",
          shown: (item) => shortTime(item.lastSync?.finishedAt),
        },
      ],
      "You can see no connectors. Add one with kb connectors add.",
    ),
  );
}

/** `kb connectors sources`: what can be connected. */
export async function listSources(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const answer = await api.get("/api/connectors/sources");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () =>
    output.table(
      answer.sources,
      [
        { title: "provider", value: (source) => source.providerId },
        { title: "name", value: (source) => source.name, isFlexible: true },
        { title: "kinds", value: (source) => source.kinds },
        {
          title: "available",
          value: (source) => (source.available ? "yes" : (source.reason ?? "no")),
          isFlexible: true,
        },
        { title: "settings", value: settingNames, isFlexible: true },
      ],
      "This server has no sources.",
    ),
  );
}

function settingNames({ configSchema }: SourceKind): string[] {
  return Object.keys(configSchema.properties ?? {});
}

/** `kb connectors show CONNECTOR` */
export async function showConnector(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const found = await findConnector(api, argument(input, 0));
  // Lists leave out what takes a look into the audit; members who do not manage it get no more than the list has.
  const connector = found.owner === undefined ? found : await findConnector(api, found.id);
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result({ connector }, () => {
    const { counts } = connector;
    output.record([
      ["id", connector.id],
      ["name", connector.name],
      ["provider", connector.providerId],
      ["state", stateOf(connector)],
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
      ["items", counts && countsOf(counts, output.format === "table")],
      ["key", connector.hasKey === true ? `${connector.keyPrefix ?? ""}…` : undefined],
      ...openingsOf(connector),
    ]);
    for (const note of notesOn(counts)) output.talk(note);
  });
}

/** A connector's settings as `--set` takes them. */
function settingsOf(config: ConnectorRecord["config"]): string[] {
  return Object.entries(config ?? {}).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
}

/** How many items there are in each state; a person is told of those that there are. */
function countsOf(counts: NonNullable<ConnectorRecord["counts"]>, isForPerson: boolean): string[] {
  return Object.entries(counts)
    .filter(([name, value]) => !isForPerson || value > 0 || name === "indexed")
    .map(
      ([name, value]) =>
        `${count(value)} ${isForPerson ? name.replace(/[A-Z]/g, (char) => ` ${char.toLowerCase()}`) : name}`,
    );
}

/** What items need that nobody may read, although they are stored. */
function notesOn(counts: ConnectorRecord["counts"]): string[] {
  const { awaitingPush = 0, parentMissing = 0 } = counts ?? {};
  const notes: string[] = [];
  if (awaitingPush > 0) {
    const what = `${plural(awaitingPush, "item")} with a parent had no access of their own in an earlier version.`;
    notes.push(`${what} Nobody can read them until you send them again.`);
  }
  if (parentMissing > 0) {
    const what = `Nobody can read ${plural(parentMissing, "item")}: the parent does not exist, or nobody can read it.`;
    notes.push(`${what} Send the parents, or the items without parentId.`);
  }
  return notes;
}

/** `kb connectors update CONNECTOR` */
export async function updateConnector(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const connector = await findConnector(api, argument(input, 0));
  const body = await changesOf(api, input, deps, connector);
  if (isEmpty(body)) throw usageFailure("Nothing to change.", "kb connectors update --help");
  const answer = await api.patch("/api/connectors/{id}", { params: { path: { id: connector.id } }, body });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => output.talk(`Updated connector "${answer.connector.name}".`));
}

/** `kb connectors files CONNECTOR` */
export async function listConnectorFiles(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const { id } = await findConnector(api, argument(input, 0));
  const query = fileQueryOf(input, api);
  const list = await api.get("/api/connectors/{id}/files", { params: { path: { id }, query } });
  printFiles(list, makeOutput(input, deps, api.settings.defaults));
}

/** `kb connectors browse PROVIDER`: what a connector could take in; stores nothing. */
export async function browse(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const answer = await api.post("/api/connectors/browse", {
    body: {
      providerId: argument(input, 0),
      config: Object.fromEntries(listOption(input, "set").map((text) => parsePair(text, "--set"))),
      ...(await credentialsOf(input, deps)),
      parent: textOption(input, "parent"),
      query: textOption(input, "find"),
      cursor: textOption(input, "cursor"),
    },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => {
    output.table(
      answer.nodes,
      [
        { title: "id", value: (node) => node.id, isFlexible: true },
        { title: "title", value: (node) => node.title, isFlexible: true },
        { title: "kind", value: (node) => node.kind },
        { title: "items", value: (node) => node.count ?? "" },
        { title: "opens", value: (node) => (node.expandable ? "yes" : "") },
      ],
      "Nothing found.",
    );
    if (answer.nextCursor !== null) output.talk(`More: --cursor ${answer.nextCursor}`);
  });
}

/** `kb connectors pause CONNECTOR` and `resume`. */
export function setPaused(verb: "pause" | "resume") {
  return async (input: CommandInput, deps: Deps): Promise<void> => {
    const api = await connect(input, deps);
    const connector = await findConnector(api, argument(input, 0));
    const answer = await api.post(`/api/connectors/{id}/${verb}`, { params: { path: { id: connector.id } } });
    const output = makeOutput(input, deps, api.settings.defaults);
    output.result(answer, () =>
      output.talk(`Connector "${connector.name}" is ${verb === "pause" ? "paused" : "active"}.`),
    );
  };
}

/** `kb connectors scope CONNECTOR`: shows it, or sets it and starts the sync that follows. */
export async function setScope(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const connector = await findConnector(api, argument(input, 0));
  const include = listOption(input, "include");
  const exclude = listOption(input, "exclude");
  const output = makeOutput(input, deps, api.settings.defaults);
  if (include.length === 0 && exclude.length === 0 && !flagOption(input, "all")) {
    const scope = connector.scope ?? { include: [], exclude: [] };
    return output.result(scope, () => output.record(Object.entries(scope)));
  }
  const answer = await api.patch("/api/connectors/{id}/scope", {
    params: { path: { id: connector.id } },
    body: { include, exclude },
  });
  output.result(answer, () =>
    output.talk(
      `The scope of "${connector.name}" is set; ${answer.sync === null ? "nothing has to be read again" : `sync ${answer.sync.id} applies it`}.`,
    ),
  );
}

/** `kb connectors rotate-key CONNECTOR`: the new key is the only data on stdout. */
export async function rotateKey(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const connector = await findConnector(api, argument(input, 0));
  const overlap = textOption(input, "overlap");
  const answer = await api.post("/api/connectors/{id}/rotate-key", {
    params: { path: { id: connector.id } },
    body: {
      overlapSeconds: overlap === undefined ? undefined : Math.round(parseDuration(overlap, "--overlap") / 1000),
    },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => {
    if (answer.key === null) {
      const owner = connector.owner?.name ?? "its owner";
      return output.talk(
        `The key of "${connector.name}" no longer works. Only its owner, ${owner}, can create a new one: kb connectors rotate-key ${connector.id}`,
      );
    }
    output.line(answer.key);
    output.talk(`The new key of "${connector.name}" is shown only once: store it now.`);
  });
}

/** `kb connectors remove CONNECTOR` */
export async function removeConnector(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const connector = await findConnector(api, argument(input, 0));
  await confirmed(input, deps, `Remove connector "${connector.name}" and everything it indexed?`);
  await api.delete("/api/connectors/{id}", { params: { path: { id: connector.id } } });
  makeOutput(input, deps).talk(
    `Removed connector "${connector.name}". Its items are hidden now and purged in the background.`,
  );
}

/** The bodies that take credentials. */
type CredentialBody =
  | BodyOf<"post", "/api/connectors" | "/api/connectors/browse">
  | BodyOf<"patch", "/api/connectors/{id}">;

/** The `credentials` of a body, read by reference: never a secret in argv. */
export async function credentialsOf(
  input: CommandInput,
  deps: Deps,
): Promise<Pick<CredentialBody, "credentials" | "accountId" | "connectionId">> {
  const pairs = listOption(input, "credential").map((text) => parsePair(text, "--credential"));
  const entries = await Promise.all(
    pairs.map(async ([key, reference]) => [key, await readSecret(reference, `--credential ${key}`, deps)] as const),
  );
  return {
    credentials: entries.length > 0 ? Object.fromEntries(entries) : undefined,
    accountId: textOption(input, "account"),
    connectionId: textOption(input, "connection"),
  };
}

/** The `schedule` of a body: `--every 30m`, `--every never`; undefined when it was not given. */
export function scheduleOf(input: CommandInput): { everyMinutes: number } | null | undefined {
  const every = textOption(input, "every");
  if (every === undefined) return undefined;
  return every === "never" ? null : { everyMinutes: Math.max(1, Math.round(parseDuration(every, "--every") / 60_000)) };
}

async function changesOf(
  api: Api,
  input: CommandInput,
  deps: Deps,
  connector: ConnectorRecord,
): Promise<BodyOf<"patch", "/api/connectors/{id}">> {
  const pairs = listOption(input, "set").map((text) => parsePair(text, "--set"));
  // The server takes a whole config, so unnamed keys are sent back as they are.
  const config = { ...connector.config, ...Object.fromEntries(pairs.map(([key, value]) => [key, plainValue(value)])) };
  return {
    name: textOption(input, "name"),
    config: pairs.length > 0 ? config : undefined,
    access: await accessOf(api, input),
    schedule: scheduleOf(input),
    ...(await credentialsOf(input, deps)),
  };
}

/** A value that looks like JSON (true, 3, ["a"]) as that; anything else is the text itself. */
function plainValue(text: string): unknown {
  if (!/^(true|false|null|-?\d+(\.\d+)?|\[.*\]|\{.*\})$/s.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Brackets in an ordinary text.
    return text;
  }
}

function stateOf(connector: ConnectorRecord): string {
  return connector.stateReason ? `${connector.state} (${connector.stateReason})` : connector.state;
}
