import type { DataOf } from "#api/client.ts";
import type { ScopePlan } from "#api/connector-records.ts";
import { plural } from "#api/plural.ts";
import { route, ownFields } from "#cli/line/command.ts";
import { accessOf, CONNECTOR } from "#cli/records/find.ts";
import type { ConnectorRecord } from "#cli/records/records.ts";
import { changes, parsePair, parseSeconds } from "#cli/line/values.ts";
import { callCommand, remoteCommand, removeCommand } from "#cli/calls/remote-command.ts";
import { ACCESS_OPTIONS, CREDENTIAL_OPTIONS, SCOPE_OPTIONS, SET_OPTION, credentialsOf, scheduleOf } from "./options.ts";

export const updateConnector = remoteCommand(
  {
    summary: "Change a connector's name, settings, access, schedule or credential.",
    of: CONNECTOR,
    options: {
      "--name <name>": "a new name",
      ...SET_OPTION,
      ...CREDENTIAL_OPTIONS,
      ...ACCESS_OPTIONS,
      "--take-over": "become the owner of a connector whose owner left",
    },
    examples: ["kb connectors update docs --every 1h"],
    exitCodes: [5],
    call: route("patch", "/api/connectors/{id}", "connector"),
  },
  async ({ api, output, options, deps, found, send }) => {
    const { name, set, takeOver } = options;
    const pairs = set.map((text) => parsePair(text, "--set"));
    // The server replaces the whole config, so keys that the command line doesn't name are sent back unchanged.
    const config = { ...found.config, ...Object.fromEntries(pairs.map(([key, value]) => [key, plainValue(value)])) };
    const answer = await send({
      body: changes("kb connectors update --help", {
        name,
        config: pairs.length > 0 ? config : undefined,
        access: await accessOf(api, options),
        schedule: scheduleOf(options),
        ...(await credentialsOf(options, deps)),
        takeOver: takeOver || undefined,
      }),
    });
    output.result(answer, ({ connector, warnings = [] }) => {
      output.talk(`Updated connector "${connector.name}".`);
      for (const warning of warnings) output.talk(`Warning: ${warning}`);
    });
  },
);

export const resumeConnector = callCommand(
  "post",
  "/api/connectors/{id}/resume",
  {
    summary: "Resume a paused connector.",
    of: CONNECTOR,
    examples: ["kb connectors resume docs"],
    exitCodes: [5],
    key: "connector",
  },
  (_answer, { found: { name } }) => `Connector "${name}" is active.`,
);

export const pauseConnector = callCommand(
  "post",
  "/api/connectors/{id}/pause",
  {
    summary: "Pause a connector's schedule; its items stay searchable.",
    of: CONNECTOR,
    examples: ["kb connectors pause docs"],
    exitCodes: [5],
    key: "connector",
  },
  (_answer, { found: { name } }) => `Connector "${name}" is paused.`,
);

/** `kb connectors scope CONNECTOR`: shows the scope, or sets it and starts the sync that follows. */
export const setScope = remoteCommand(
  {
    summary: "Show or set what a connector includes.",
    of: CONNECTOR,
    options: {
      ...SCOPE_OPTIONS,
      "--all": "include everything again",
      "--dry-run": "show what this would add and remove, without changing anything",
    },
    examples: ["kb connectors scope docs --exclude 'drafts/**'", "kb connectors scope docs --all --dry-run"],
    exitCodes: [5],
    call: route("patch", "/api/connectors/{id}/scope", "connector"),
    fields: [
      ...ownFields<NonNullable<ConnectorRecord["scope"]>>("include", "exclude"),
      route("patch", "/api/connectors/{id}/scope", "connector"),
    ],
  },
  async ({ output, found: { name, scope }, options: { include, exclude, all, dryRun }, send }) => {
    if (include.length === 0 && exclude.length === 0 && !all) {
      const { include = [], exclude = [] } = scope ?? {};
      return output.result({ include, exclude }, (known) => output.record(Object.entries(known)));
    }
    const answer = await send({ query: { dryRun: dryRun ? "true" : undefined }, body: { include, exclude } });
    output.result(answer, ({ plan, sync }) => {
      if (dryRun) return planText(plan);
      return `The scope of "${name}" is set; ${sync === null ? "nothing has to be read again" : `sync ${sync.id} applies it`}.`;
    });
  },
);

/** Describes the effect of a scope, as far as it is known before a run. */
function planText({ added, removed, estimatedCalls }: ScopePlan): string {
  const adds = added === null ? "Only a sync can show what this adds" : `This adds at least ${plural(added, "item")}`;
  const calls = estimatedCalls === null ? "" : `, with about ${plural(estimatedCalls, "request")}`;
  const removes = removed === null ? "the sync shows what it removes" : `removes ${plural(removed, "item")}`;
  return `${adds}${calls}, and ${removes}. Nothing has changed.`;
}

/** `kb connectors rotate-key CONNECTOR`: prints only the new key on stdout. */
export const rotateKey = remoteCommand(
  {
    summary: "Create a new key for your push connector, or revoke the key of someone else's.",
    of: CONNECTOR,
    options: { "--overlap <duration>": "how long the old key still works (default: 10m)" },
    examples: ["kb connectors rotate-key tickets > key.txt"],
    exitCodes: [5],
    call: route("post", "/api/connectors/{id}/rotate-key"),
  },
  async ({ output, found: { id, name, owner }, options, send }) =>
    output.result(await send({ body: { overlapSeconds: parseSeconds(options.overlap, "--overlap") } }), ({ key }) => {
      if (key === null) {
        return `The key of "${name}" no longer works. Only its owner, ${owner?.name ?? "its owner"}, can create a new one: kb connectors rotate-key ${id}`;
      }
      output.line(key);
      return `The new key of "${name}" is shown only once: store it now.`;
    }),
);

/** `kb connectors webhook CONNECTOR`: prints only its URL on stdout, or with --new-secret only the new secret. */
export const showWebhook = remoteCommand(
  {
    summary: "Show where the app can notify kb of changes, or create the secret that the app signs with.",
    of: CONNECTOR,
    options: { "--new-secret": "create a secret; the previous one stops working" },
    examples: ["kb connectors webhook docs", "kb connectors webhook docs --new-secret > secret.txt"],
    exitCodes: [5],
    call: route("get", "/api/connectors/{id}/webhook"),
  },
  async ({ api, output, found: { id }, options, send }) => {
    if (!options.newSecret) {
      return output.result(await send(), ({ webhook }) => {
        output.line(webhook.url);
        return stateOfWebhook(webhook, id);
      });
    }
    const answer = await api.post("/api/connectors/{id}/webhook", { params: { path: { id } } });
    output.result(answer, ({ secret, webhook: { url } }) => {
      if (secret === null) {
        output.talk(
          `Add ${url} as a webhook in the app now: kb accepts the secret that the app sends to it within an hour.`,
        );
        return `To see that secret: kb connectors webhook ${id}`;
      }
      output.line(secret);
      return `Give this secret and ${url} to the app. The secret is shown only once.`;
    });
  },
);

function stateOfWebhook(
  { secretCreatedAt, subscription, offered }: DataOf<"get", "/api/connectors/{id}/webhook">["webhook"],
  id: string,
): string | undefined {
  if (offered) {
    return offered.secret === null
      ? `kb waits for the app's secret until ${offered.until}.`
      : `The app sent this secret. Confirm it there: ${offered.secret}`;
  }
  if (subscription) {
    return subscription.problem === null
      ? "kb has subscribed to notifications at the app, and renews the subscription itself."
      : `kb could not subscribe to notifications at the app, and tries again: ${subscription.problem.message}`;
  }
  if (secretCreatedAt !== null) return undefined;
  return `It has no secret yet. Create one: kb connectors webhook ${id} --new-secret`;
}

export const removeConnector = removeCommand("/api/connectors/{id}", {
  summary: "Remove a connector and everything it indexed.",
  of: CONNECTOR,
  examples: ["kb connectors remove docs --yes"],
  exitCodes: [5],
  question: ({ name }) => `Remove connector "${name}" and everything it indexed?`,
  done: ({ name }) => `Removed connector "${name}". Its items are hidden now and purged in the background.`,
});

/** Parses a value that looks like JSON (true, 3, ["a"]); any other value is returned as text. */
function plainValue(text: string): unknown {
  if (!/^(true|false|null|-?\d+(\.\d+)?|\[.*\]|\{.*\})$/s.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // An ordinary text with brackets isn't JSON.
    return text;
  }
}
