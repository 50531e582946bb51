import { EVENT_MEANINGS, EVENT_TYPES } from "#api/event-types.ts";
import type { BodyOf } from "#api/client.ts";
import type { EventTarget } from "#api/events.ts";
import { plural } from "#api/plural.ts";
import { command, type Command, type CommandData, route, oneOf } from "#cli/line/command.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { flexible, optional, shortTime } from "#cli/terminal/table.ts";
import { changes, parseSeconds, someOf } from "#cli/line/values.ts";
import { callCommand, remoteCommand, removeCommand } from "#cli/calls/remote-command.ts";
import { findTarget, TARGET, TARGET_ARGUMENT } from "./options.ts";

const TYPES = {
  "--type <type>": { ...oneOf(EVENT_TYPES, "send events of this type; may be repeated"), repeatable: true },
} as const;

const CHANGE = route("patch", "/api/webhooks/{id}", "target");

function isNow(outcome: string) {
  return ({ target }: { target: EventTarget }) => `The event target ${target.url} is ${outcome}.`;
}

export const listTargets = callCommand(
  "get",
  "/api/webhooks",
  { summary: "List the event targets (admins only).", examples: ["kb events list"], key: "targets" },
  ({ targets }, { output }) =>
    output.table(
      targets,
      {
        id: "id",
        url: flexible("url"),
        types: optional(flexible(typesOf)),
        state: stateOf,
        waiting: "waiting",
        "last delivered": {
          value: ({ lastDeliveredAt }) => lastDeliveredAt ?? "never",
          shown: ({ lastDeliveredAt }) => shortTime(lastDeliveredAt) || "never",
          isOptional: true,
        },
      },
      "No events are sent. Add a target: kb events add URL",
    ),
);

export const listTypes = command(
  {
    summary: "List the types of events and when each is sent.",
    examples: ["kb events types"],
  },
  async (input, deps) => {
    const output = makeOutput(input, deps);
    output.table(
      EVENT_TYPES.map((type) => ({ type, meaning: EVENT_MEANINGS[type] })),
      { type: "type", "sent when": flexible("meaning") },
      "",
    );
  },
);

export const showTarget = remoteCommand(
  {
    summary: "Show one event target (admins only).",
    of: TARGET,
    examples: ["kb events show https://hooks.acme.example/kb"],
    call: route("get", "/api/webhooks/{id}", "target"),
  },
  async ({ output, found: target }) =>
    output.result({ target }, () =>
      output.record([
        ["id", target.id],
        ["url", target.url],
        ["types", target.types],
        ["state", stateOf(target)],
        ["waiting", target.waiting],
        ["next try", target.nextTryAt],
        ["failing since", target.failingSince],
        ["last delivered", target.lastDeliveredAt],
        ["both secrets until", target.secretOverlapEndsAt],
        ["added", target.createdAt],
        ["by", target.createdBy?.name],
      ]),
    ),
);

/** `kb events add URL`: prints only the secret on stdout. */
export const addTarget = remoteCommand(
  {
    summary: "Send events to a URL; the secret that signs them is printed only once (admins only).",
    details: "Without --type, events of all types are sent. For the types, run `kb events types`.",
    arguments: { "<url>": "where to send the events: https://…" },
    options: TYPES,
    examples: ["kb events add https://hooks.acme.example/kb --type sync.failed > secret.txt"],
    exitCodes: [5],
    call: route("post", "/api/webhooks"),
    fields: [route("post", "/api/webhooks"), route("post", "/api/webhooks", "target")],
  },
  async ({ output, args: { url }, options: { type }, send }) =>
    output.result(await send({ body: { url, types: someOf(type) } }), ({ secret, target: { id, url: target } }) => {
      output.line(secret);
      return `Events are sent to ${target} (${id}). The secret is shown only once: store it now. Test it: kb events test ${id}`;
    }),
);

export const updateTarget = remoteCommand(
  {
    summary: "Change the URL or the types of an event target (admins only).",
    arguments: { ...TARGET_ARGUMENT },
    options: { "--set-url <url>": "send to this URL instead", ...TYPES },
    examples: ["kb events update whk_2345abcd2345abcd --type sync.failed --type removal.held"],
    exitCodes: [3, 5],
    call: CHANGE,
  },
  async ({ api, output, args, options: { setUrl, type }, send }) => {
    const body: BodyOf<"patch", "/api/webhooks/{id}"> = changes("kb events update --help", {
      url: setUrl,
      types: someOf(type),
    });
    const { id } = await findTarget(api, args.target);
    output.result(await send({ at: { id }, body }), isNow("updated"));
  },
);

export const pauseTarget = stateCommand("paused", {
  summary: "Pause an event target; its events wait for up to 30 days (admins only).",
  examples: ["kb events pause whk_2345abcd2345abcd"],
});

export const resumeTarget = stateCommand("active", {
  summary: "Resume a paused event target; waiting events are sent now (admins only).",
  examples: ["kb events resume whk_2345abcd2345abcd"],
});

function stateCommand(state: "paused" | "active", data: Pick<CommandData, "summary" | "examples">): Command {
  return remoteCommand({ ...data, of: TARGET, call: CHANGE }, async ({ output, send }) =>
    output.result(await send({ body: { state } }), isNow(state)),
  );
}

/** `kb events rotate-secret TARGET`: prints only the new secret on stdout. */
export const rotateSecret = remoteCommand(
  {
    summary: "Replace the secret of an event target; the new one is printed only once (admins only).",
    details: "Until the overlap ends, events are signed with both secrets, so that you can change it at the receiver.",
    of: TARGET,
    options: { "--overlap <duration>": "how long both secrets sign (default: 24h; 0 if the old one leaked)" },
    examples: ["kb events rotate-secret whk_2345abcd2345abcd > secret.txt"],
    call: route("post", "/api/webhooks/{id}/rotate-secret"),
    fields: [
      route("post", "/api/webhooks/{id}/rotate-secret"),
      route("post", "/api/webhooks/{id}/rotate-secret", "target"),
    ],
  },
  async ({ output, options, send }) =>
    output.result(
      await send({ body: { overlapSeconds: parseSeconds(options.overlap, "--overlap") } }),
      ({ secret, target }) => {
        output.line(secret);
        const until = target.secretOverlapEndsAt;
        return until === null
          ? "The previous secret no longer signs events. The new one is shown only once: store it now."
          : `Events are signed with both secrets until ${until}. The new one is shown only once: store it now.`;
      },
    ),
);

export const removeTarget = removeCommand("/api/webhooks/{id}", {
  summary: "Delete an event target with its deliveries (admins only).",
  of: TARGET,
  examples: ["kb events remove whk_2345abcd2345abcd --yes"],
  question: ({ url, waiting }) =>
    `Stop sending events to ${url}? ${plural(waiting, "event")} waiting for it will be deleted.`,
  done: ({ url }) => `No events are sent to ${url} any more.`,
});

function typesOf({ types }: EventTarget): string {
  return types.length === EVENT_TYPES.length ? "all" : types.join(", ");
}

function stateOf({ state, pausedFor, failingSince }: EventTarget): string {
  if (state === "active") return failingSince === null ? "active" : "failing";
  return pausedFor === null || pausedFor === "admin" ? "paused" : `paused: ${pausedFor}`;
}
