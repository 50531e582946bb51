import type { EventDelivery } from "#api/events.ts";
import { plural } from "#api/plural.ts";
import { oneOf, route } from "#cli/line/command.ts";
import type { Deps } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { flexible, optional, shortTime } from "#cli/terminal/table.ts";
import { parseDuration, parseInteger } from "#cli/line/values.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";
import { isoOf } from "#core/instant.ts";
import { findTarget, TARGET, TARGET_ARGUMENT } from "./options.ts";

const DEFAULT_ROWS = 50;

export const testTarget = remoteCommand(
  {
    summary: "Send a ping to an event target now; exit code 1 if it was not accepted (admins only).",
    of: TARGET,
    examples: ["kb events test whk_2345abcd2345abcd"],
    call: route("post", "/api/webhooks/{id}/test", "delivery"),
  },
  async ({ output, send }) => {
    const answer = await send();
    output.result(answer, ({ delivery }) => output.line(outcomeOf(delivery)));
    return answer.delivery.state === "delivered" ? EXIT.ok : EXIT.failure;
  },
);

export const listDeliveries = remoteCommand(
  {
    summary: "List the deliveries of an event target, newest first (admins only).",
    of: TARGET,
    options: {
      "--state <state>": oneOf(["waiting", "delivered", "failed"], "only these"),
      "--limit <n>": `how many rows (default: ${DEFAULT_ROWS})`,
    },
    examples: ["kb events deliveries whk_2345abcd2345abcd --state failed"],
    call: route("get", "/api/webhooks/{id}/deliveries", "deliveries"),
  },
  async ({ api, output, found: { id }, options: { state, limit } }) => {
    const deliveries = await api.list("/api/webhooks/{id}/deliveries", "deliveries", {
      at: { id },
      query: { state },
      max: parseInteger(limit, "--limit", 1, 10_000) ?? DEFAULT_ROWS,
    });
    output.list(
      "deliveries",
      deliveries,
      {
        id: "id",
        at: { value: "eventAt", shown: ({ eventAt }) => shortTime(eventAt) },
        type: "type",
        outcome: flexible(outcomeOf),
        tries: "tries",
        event: optional("eventId"),
      },
      "Nothing was sent to it.",
    );
  },
);

export const replay = remoteCommand(
  {
    summary: "Send a delivery's event again, or the events of a time span (admins only).",
    details: "The event IDs stay the same, so a receiver can recognize an event that it has already seen.",
    arguments: { ...TARGET_ARGUMENT, "[delivery]": "the delivery: dlv_…; without it, use --since" },
    options: {
      "--since <when>": "from this time on: 2026-11-21T09:00Z, or 2h for two hours ago",
      "--until <when>": "before this time (default: now)",
      "--failed": "only events that the target never accepted",
    },
    examples: ["kb events replay whk_2345abcd2345abcd --since 2h --failed"],
    exitCodes: [3, 5],
    fields: [
      route("post", "/api/webhooks/{id}/replay"),
      route("post", "/api/webhooks/{id}/deliveries/{deliveryId}/replay", "delivery"),
    ],
  },
  async ({ api, output, args, options, deps }) => {
    const { delivery: deliveryId } = args;
    const { since, until, failed } = options;
    if ((deliveryId === undefined) === (since === undefined)) {
      throw usageFailure("Name a delivery, or give --since.", "kb events replay TARGET --since 2h");
    }
    const { id, url } = await findTarget(api, args.target);
    if (deliveryId !== undefined) {
      const path = { id, deliveryId };
      const answer = await api.post("/api/webhooks/{id}/deliveries/{deliveryId}/replay", { params: { path } });
      return output.result(answer, ({ delivery }) => `Event ${delivery.eventId} is sent again.`);
    }
    const answer = await api.post("/api/webhooks/{id}/replay", {
      params: { path: { id } },
      body: {
        since: instantOf(since ?? "", "--since", deps),
        until: until === undefined ? undefined : instantOf(until, "--until", deps),
        state: failed ? "failed" : "all",
      },
    });
    output.result(
      answer,
      ({ replayed }) => `${plural(replayed, "event")} to ${url} ${replayed === 1 ? "is" : "are"} sent again.`,
    );
  },
);

function outcomeOf({ state, status, code }: EventDelivery): string {
  const why = [code, status === null ? undefined : `HTTP ${status}`].filter(Boolean).join(", ");
  return why === "" ? state : `${state} (${why})`;
}

function instantOf(text: string, name: string, { clock }: Pick<Deps, "clock">): string {
  if (/^\d+(?:ms|s|m|h|d)?$/.test(text)) return isoOf(clock.now() - parseDuration(text, name));
  const at = Date.parse(text);
  if (Number.isNaN(at)) {
    throw usageFailure(`${name} "${text}" is not a time.`, "Write 2026-11-21T09:00Z, or 2h for two hours ago.");
  }
  return isoOf(at);
}
