import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from "#api/event-types.ts";
import type { BodyOf } from "#api/client.ts";
import type { EventTarget } from "#api/events.ts";
import { plural } from "#api/plural.ts";
import { isEmpty } from "#cli/api.ts";
import { command, fieldsOf } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import { usageFailure } from "#cli/failure.ts";
import { makeOutput } from "#cli/output.ts";
import { flexible, shortTime } from "#cli/table.ts";
import { parseDuration } from "#cli/values.ts";
import { remoteCommand, type Remote, type RemoteData } from "#cli/remote-command.ts";
import { findTarget, TARGET } from "./options.ts";

const TYPES = {
  flags: "--type <type>",
  summary: "send this type; may be repeated",
  choices: EVENT_TYPES,
  repeatable: true,
} as const;

export const listTargets = remoteCommand(
  {
    summary: "List where events are sent (admin).",
    examples: ["kb events list"],
    fields: [fieldsOf("get", "/api/webhooks", "targets")],
  },
  async ({ api, output }) => {
    const answer = await api.get("/api/webhooks");
    output.result(answer, () =>
      output.table(
        answer.targets,
        {
          id: (target) => target.id,
          url: flexible((target) => target.url),
          types: { value: (target) => typesOf(target), isFlexible: true, isOptional: true },
          state: (target) => stateOf(target),
          waiting: (target) => target.waiting,
          "last delivered": {
            value: (target) => target.lastDeliveredAt ?? "never",
            shown: (target) => (target.lastDeliveredAt === null ? "never" : shortTime(target.lastDeliveredAt)),
            isOptional: true,
          },
        },
        "No events are sent. Add a target: kb events add URL",
      ),
    );
  },
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
      {
        type: ({ type }) => type,
        "sent when": flexible(({ meaning }) => meaning),
      },
      "",
    );
  },
);

export const showTarget = remoteCommand(
  {
    summary: "Show one event target (admin).",
    arguments: TARGET,
    examples: ["kb events show https://hooks.acme.example/kb"],
    exitCodes: [3],
    fields: [fieldsOf("get", "/api/webhooks/{id}", "target")],
  },
  async ({ api, output, args }) => {
    const target = await findTarget(api, args.target);
    output.result({ target }, () =>
      output.record([
        ["id", target.id],
        ["url", target.url],
        ["types", target.types.join(", ")],
        ["state", stateOf(target)],
        ["waiting", target.waiting],
        ["next try", target.nextTryAt],
        ["failing since", target.failingSince],
        ["last delivered", target.lastDeliveredAt],
        ["both secrets until", target.secretOverlapEndsAt],
        ["added", target.createdAt],
        ["by", target.createdBy?.name],
      ]),
    );
  },
);

/** `kb events add URL`: stdout has only the secret. */
export const addTarget = remoteCommand(
  {
    summary: "Send events to a URL; prints the secret that signs them, once (admin).",
    details: "Without --type, events of all types are sent. For the types, run `kb events types`.",
    arguments: [{ name: "url", summary: "where to send them: https://…", required: true }],
    options: [TYPES],
    examples: ["kb events add https://hooks.acme.example/kb --type sync.failed > secret.txt"],
    exitCodes: [5],
    fields: [fieldsOf("post", "/api/webhooks"), fieldsOf("post", "/api/webhooks", "target")],
  },
  async ({ api, output, args, options }) => {
    const types: readonly EventType[] = options.type;
    const answer = await api.post("/api/webhooks", {
      body: { url: args.url, types: types.length > 0 ? [...types] : undefined },
    });
    output.result(answer, () => {
      output.line(answer.secret);
      output.talk(
        `Events are sent to ${answer.target.url} (${answer.target.id}). The secret is shown only once: store it now. Test it: kb events test ${answer.target.id}`,
      );
    });
  },
);

export const updateTarget = remoteCommand(
  {
    summary: "Change the URL or the types of an event target (admin).",
    arguments: TARGET,
    options: [{ flags: "--set-url <url>", summary: "send to this URL instead" }, TYPES],
    examples: ["kb events update whk_2345abcd2345abcd --type sync.failed --type removal.held"],
    exitCodes: [3, 5],
    fields: [fieldsOf("patch", "/api/webhooks/{id}", "target")],
  },
  async (remote) => {
    const types: readonly EventType[] = remote.options.type;
    const url = remote.options.setUrl;
    await change(remote, { url, types: types.length > 0 ? [...types] : undefined }, "updated");
  },
);

export const pauseTarget = remoteCommand(
  {
    summary: "Pause an event target; its events wait for up to 30 days (admin).",
    arguments: TARGET,
    examples: ["kb events pause whk_2345abcd2345abcd"],
    exitCodes: [3],
    fields: [fieldsOf("patch", "/api/webhooks/{id}", "target")],
  },
  (remote) => change(remote, { state: "paused" }, "paused"),
);

export const resumeTarget = remoteCommand(
  {
    summary: "Resume a paused event target; what waits is sent now (admin).",
    arguments: TARGET,
    examples: ["kb events resume whk_2345abcd2345abcd"],
    exitCodes: [3],
    fields: [fieldsOf("patch", "/api/webhooks/{id}", "target")],
  },
  (remote) => change(remote, { state: "active" }, "active"),
);

/** `kb events rotate-secret TARGET`: stdout has only the new secret. */
export const rotateSecret = remoteCommand(
  {
    summary: "Replace the secret of an event target; prints the new one, once (admin).",
    details: "Until the overlap ends, events are signed with both secrets, so that you can change it at the receiver.",
    arguments: TARGET,
    options: [
      { flags: "--overlap <duration>", summary: "how long both secrets sign (default: 24h; 0 if the old one leaked)" },
    ],
    examples: ["kb events rotate-secret whk_2345abcd2345abcd > secret.txt"],
    exitCodes: [3],
    fields: [
      fieldsOf("post", "/api/webhooks/{id}/rotate-secret"),
      fieldsOf("post", "/api/webhooks/{id}/rotate-secret", "target"),
    ],
  },
  async ({ api, output, args, options }) => {
    const overlap = options.overlap;
    const { id } = await findTarget(api, args.target);
    const answer = await api.post("/api/webhooks/{id}/rotate-secret", {
      params: { path: { id } },
      body: {
        overlapSeconds: overlap === undefined ? undefined : Math.round(parseDuration(overlap, "--overlap") / 1000),
      },
    });
    output.result(answer, () => {
      output.line(answer.secret);
      const until = answer.target.secretOverlapEndsAt;
      output.talk(
        until === null
          ? "The previous secret no longer signs events. The new one is shown only once: store it now."
          : `Events are signed with both secrets until ${until}. The new one is shown only once: store it now.`,
      );
    });
  },
);

export const removeTarget = remoteCommand(
  {
    summary: "Delete an event target with its deliveries (admin).",
    arguments: TARGET,
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb events remove whk_2345abcd2345abcd --yes"],
    exitCodes: [3],
  },
  async ({ api, output, args, options, deps }) => {
    const { id, url, waiting } = await findTarget(api, args.target);
    await confirmed(
      options,
      deps,
      `Stop sending events to ${url}? ${plural(waiting, "event")} waiting for it will be deleted.`,
    );
    await api.delete("/api/webhooks/{id}", { params: { path: { id } } });
    output.talk(`No events are sent to ${url} any more.`);
  },
);

async function change(
  { api, output, args }: Remote<RemoteData> & { args: { target: string } },
  body: BodyOf<"patch", "/api/webhooks/{id}">,
  outcome: string,
): Promise<void> {
  if (isEmpty(body)) throw usageFailure("Nothing to change.", "kb events update --help");
  const { id } = await findTarget(api, args.target);
  const answer = await api.patch("/api/webhooks/{id}", { params: { path: { id } }, body });
  output.result(answer, () => output.talk(`The event target ${answer.target.url} is ${outcome}.`));
}

function typesOf({ types }: EventTarget): string {
  return types.length === EVENT_TYPES.length ? "all" : types.join(", ");
}

function stateOf({ state, pausedFor, failingSince }: EventTarget): string {
  if (state === "active") return failingSince === null ? "active" : "failing";
  return pausedFor === null || pausedFor === "admin" ? "paused" : `paused: ${pausedFor}`;
}
