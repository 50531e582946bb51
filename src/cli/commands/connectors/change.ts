import type { BodyOf } from "#api/client.ts";
import type { ScopePlan } from "#api/connector-records.ts";
import { plural } from "#api/plural.ts";
import { isEmpty, type Api } from "#cli/api.ts";
import { fieldsOf, ownFields, type CommandData, type InputOf } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import type { Deps } from "#cli/deps.ts";
import { usageFailure } from "#cli/failure.ts";
import { accessOf, findConnector } from "#cli/find.ts";
import type { ConnectorRecord } from "#cli/records.ts";
import { parseDuration, parsePair } from "#cli/values.ts";
import { remoteCommand, type Remote, type RemoteData } from "#cli/remote-command.ts";
import {
  ACCESS_OPTIONS,
  CONNECTOR,
  CREDENTIAL_OPTIONS,
  SCOPE_OPTIONS,
  SET_OPTION,
  credentialsOf,
  scheduleOf,
} from "./options.ts";

const UPDATE = {
  summary: "Change a connector's name, settings, access, schedule or credential.",
  arguments: CONNECTOR,
  options: [
    { flags: "--name <name>", summary: "a new name" },
    SET_OPTION,
    ...CREDENTIAL_OPTIONS,
    ...ACCESS_OPTIONS,
    { flags: "--take-over", summary: "become the owner of a connector whose owner left" },
  ],
  examples: ["kb connectors update docs --every 1h"],
  exitCodes: [3, 5],
  fields: [fieldsOf("patch", "/api/connectors/{id}", "connector")],
} as const satisfies CommandData;

type UpdateInput = InputOf<typeof UPDATE>;

export const updateConnector = remoteCommand(UPDATE, async ({ api, output, args, options, deps }) => {
  const connector = await findConnector(api, args.connector);
  const body = await changesOf(api, { args, options }, deps, connector);
  if (isEmpty(body)) throw usageFailure("Nothing to change.", "kb connectors update --help");
  const answer = await api.patch("/api/connectors/{id}", { params: { path: { id: connector.id } }, body });
  output.result(answer, () => {
    output.talk(`Updated connector "${answer.connector.name}".`);
    for (const warning of answer.warnings ?? []) output.talk(`Warning: ${warning}`);
  });
});

/** `kb connectors pause CONNECTOR` and `resume`. */
function setPaused(verb: "pause" | "resume") {
  return async ({ api, output, args }: Remote<RemoteData> & { args: { connector: string } }): Promise<void> => {
    const connector = await findConnector(api, args.connector);
    const answer = await api.post(`/api/connectors/{id}/${verb}`, { params: { path: { id: connector.id } } });
    output.result(answer, () =>
      output.talk(`Connector "${connector.name}" is ${verb === "pause" ? "paused" : "active"}.`),
    );
  };
}

export const resumeConnector = remoteCommand(
  {
    summary: "Resume a paused connector.",
    arguments: CONNECTOR,
    examples: ["kb connectors resume docs"],
    exitCodes: [3, 5],
    fields: [fieldsOf("post", "/api/connectors/{id}/resume", "connector")],
  },
  setPaused("resume"),
);

export const pauseConnector = remoteCommand(
  {
    summary: "Pause a connector's schedule; its items stay searchable.",
    arguments: CONNECTOR,
    examples: ["kb connectors pause docs"],
    exitCodes: [3, 5],
    fields: [fieldsOf("post", "/api/connectors/{id}/pause", "connector")],
  },
  setPaused("pause"),
);

/** `kb connectors scope CONNECTOR`: shows the scope, or sets it and starts the sync that follows. */
export const setScope = remoteCommand(
  {
    summary: "Show or set what a connector includes.",
    arguments: CONNECTOR,
    options: [
      ...SCOPE_OPTIONS,
      { flags: "--all", summary: "include everything again" },
      { flags: "--dry-run", summary: "show what this would add and remove, without changing anything" },
    ],
    examples: ["kb connectors scope docs --exclude 'drafts/**'", "kb connectors scope docs --all --dry-run"],
    exitCodes: [3, 5],
    fields: [
      ...ownFields<NonNullable<ConnectorRecord["scope"]>>("include", "exclude"),
      fieldsOf("patch", "/api/connectors/{id}/scope", "connector"),
    ],
  },
  async ({ api, output, args, options }) => {
    const connector = await findConnector(api, args.connector);
    const include = options.include;
    const exclude = options.exclude;
    if (include.length === 0 && exclude.length === 0 && !options.all) {
      const { include = [], exclude = [] } = connector.scope ?? {};
      return output.result({ include, exclude }, () => output.record(Object.entries({ include, exclude })));
    }
    const answer = await api.patch("/api/connectors/{id}/scope", {
      params: { path: { id: connector.id }, ...(options.dryRun && { query: { dryRun: "true" } }) },
      body: { include, exclude },
    });
    output.result(answer, () =>
      output.talk(
        options.dryRun
          ? planText(answer.plan)
          : `The scope of "${connector.name}" is set; ${answer.sync === null ? "nothing has to be read again" : `sync ${answer.sync.id} applies it`}.`,
      ),
    );
  },
);

/** Describes the effect of a scope, as far as that is known before a run. */
function planText({ added, removed, estimatedCalls }: ScopePlan): string {
  const adds = added === null ? "Only a sync can show what this adds" : `This adds at least ${plural(added, "item")}`;
  const calls = estimatedCalls === null ? "" : `, with about ${plural(estimatedCalls, "request")}`;
  const removes = removed === null ? "the sync shows what it removes" : `removes ${plural(removed, "item")}`;
  return `${adds}${calls}, and ${removes}. Nothing has changed.`;
}

/** `kb connectors rotate-key CONNECTOR`: stdout has only the new key. */
export const rotateKey = remoteCommand(
  {
    summary: "Create a new key for your push connector, or revoke the key of someone else's.",
    arguments: CONNECTOR,
    options: [{ flags: "--overlap <duration>", summary: "how long the old key still works (default: 10m)" }],
    examples: ["kb connectors rotate-key tickets > key.txt"],
    exitCodes: [3, 5],
    fields: [fieldsOf("post", "/api/connectors/{id}/rotate-key")],
  },
  async ({ api, output, args, options }) => {
    const connector = await findConnector(api, args.connector);
    const overlap = options.overlap;
    const answer = await api.post("/api/connectors/{id}/rotate-key", {
      params: { path: { id: connector.id } },
      body: {
        overlapSeconds: overlap === undefined ? undefined : Math.round(parseDuration(overlap, "--overlap") / 1000),
      },
    });
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
  },
);

/** `kb connectors webhook CONNECTOR`: stdout has only its URL, or with --new-secret the new secret. */
export const showWebhook = remoteCommand(
  {
    summary: "Show where the app can notify kb of changes, or create the secret that it signs with.",
    arguments: CONNECTOR,
    options: [{ flags: "--new-secret", summary: "create a secret; the previous one stops working" }],
    examples: ["kb connectors webhook docs", "kb connectors webhook docs --new-secret > secret.txt"],
    exitCodes: [3, 5],
    fields: [fieldsOf("get", "/api/connectors/{id}/webhook")],
  },
  async ({ api, output, args, options }) => {
    const connector = await findConnector(api, args.connector);
    const params = { path: { id: connector.id } };
    if (options.newSecret === true) {
      const answer = await api.post("/api/connectors/{id}/webhook", { params });
      output.result(answer, () => {
        if (answer.secret === null) {
          output.talk(
            `Add ${answer.webhook.url} in the app now: kb takes the secret that it sends there within an hour.`,
          );
          return output.talk(`To see that secret: kb connectors webhook ${connector.id}`);
        }
        output.line(answer.secret);
        output.talk(`Give this secret and ${answer.webhook.url} to the app. The secret is shown only once.`);
      });
      return;
    }
    const answer = await api.get("/api/connectors/{id}/webhook", { params });
    output.result(answer, () => {
      output.line(answer.webhook.url);
      const { secretCreatedAt, subscription, offered } = answer.webhook;
      if (offered) {
        return output.talk(
          offered.secret === null
            ? `kb waits for the app's secret until ${offered.until}.`
            : `The app sent this secret. Confirm it there: ${offered.secret}`,
        );
      }
      if (subscription) {
        return output.talk(
          subscription.problem === null
            ? "kb has subscribed to notifications at the app, and renews the subscription itself."
            : `kb could not subscribe to notifications at the app, and tries again: ${subscription.problem.message}`,
        );
      }
      if (secretCreatedAt !== null) return;
      output.talk(`It has no secret yet. Create one: kb connectors webhook ${connector.id} --new-secret`);
    });
  },
);

export const removeConnector = remoteCommand(
  {
    summary: "Remove a connector and everything it indexed.",
    arguments: CONNECTOR,
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb connectors remove docs --yes"],
    exitCodes: [3, 5],
  },
  async ({ api, output, args, options, deps }) => {
    const connector = await findConnector(api, args.connector);
    await confirmed(options, deps, `Remove connector "${connector.name}" and everything it indexed?`);
    await api.delete("/api/connectors/{id}", { params: { path: { id: connector.id } } });
    output.talk(`Removed connector "${connector.name}". Its items are hidden now and purged in the background.`);
  },
);

async function changesOf(
  api: Api,
  input: UpdateInput,
  deps: Deps,
  connector: ConnectorRecord,
): Promise<BodyOf<"patch", "/api/connectors/{id}">> {
  const pairs = input.options.set.map((text) => parsePair(text, "--set"));
  // The server takes a whole config, so unnamed keys are sent back unchanged.
  const config = { ...connector.config, ...Object.fromEntries(pairs.map(([key, value]) => [key, plainValue(value)])) };
  return {
    name: input.options.name,
    config: pairs.length > 0 ? config : undefined,
    access: await accessOf(api, input.options),
    schedule: scheduleOf(input.options),
    ...(await credentialsOf(input.options, deps)),
    takeOver: input.options.takeOver === true ? true : undefined,
  };
}

/** Parses a value that looks like JSON (true, 3, ["a"]); anything else is the text itself. */
function plainValue(text: string): unknown {
  if (!/^(true|false|null|-?\d+(\.\d+)?|\[.*\]|\{.*\})$/s.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Brackets in an ordinary text.
    return text;
  }
}
