import { useInfiniteQuery } from "@tanstack/react-query";
import type { EventDelivery } from "#api/events.ts";
import { plural } from "#api/plural.ts";
import { api } from "#server/web/app/data/client.ts";
import { eventDeliveriesQuery } from "#server/web/app/data/queries.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { Badge, EmptyState, StateBadge } from "#server/web/app/ui/bits.tsx";
import { ConfirmDialog, DialogButton } from "#server/web/app/ui/dialog.tsx";
import { FormDialog } from "#server/web/app/ui/form-dialog.tsx";
import { CheckboxField, SelectField, text } from "#server/web/app/ui/form.tsx";
import type { Choice } from "#server/web/app/ui/picker.tsx";
import { actsColumn, type Column, headColumn, timeColumn } from "#server/web/app/ui/table.tsx";
import { CODE_WORDS, DELIVERY_WORDS } from "./event-words.ts";

/** Deliveries to a target in the last 30 days, with buttons to send them again. */
export function Deliveries({ targetId }: { targetId: string }) {
  return (
    <TableSection
      action={<DialogButton dialog={<ReplaySpan targetId={targetId} />}>Replay events</DialogButton>}
      columns={columns(targetId)}
      description="Kept for 30 days. kb tries each event for about a day and keeps their order."
      empty={
        <EmptyState icon="external" title="Nothing sent yet">
          Send a ping to see whether the target works.
        </EmptyState>
      }
      keyOf="id"
      label="Deliveries"
      query={useInfiniteQuery(eventDeliveriesQuery(targetId))}
      title="Deliveries"
    />
  );
}

function ReplaySpan({ targetId }: { targetId: string }) {
  function replay(fields: FormData): Promise<{ replayed: number }> {
    const since = new Date(Date.now() - Number(text(fields, "hours")) * 3_600_000).toISOString();
    const body = { since, state: fields.get("failed") === null ? ("all" as const) : ("failed" as const) };
    return api.post("/api/webhooks/{id}/replay", { params: { path: { id: targetId } }, body });
  }

  return (
    <FormDialog
      description="Events keep their IDs, and are sent after those already waiting."
      invalidates={CHANGED}
      onSubmit={replay}
      submit="Replay events"
      title="Replay events"
      toast={({ replayed }) => `${plural(replayed, "event")} queued again`}
    >
      <SelectField choices={SPANS} label="Events of" name="hours" />
      <CheckboxField defaultChecked label="Only events that the target never accepted" name="failed" />
    </FormDialog>
  );
}

/** The names of the queries that a replay changes. */
const CHANGED = ["event-target", "event-targets"] as const;

const SPANS: readonly Choice[] = [
  ["1", "the last hour"],
  ["24", "the last day"],
  ["72", "the last 3 days"],
  ["168", "the last week"],
  ["720", "the last 30 days"],
];

function columns(targetId: string): Column<EventDelivery>[] {
  return [
    headColumn("Event", ({ type, eventId, isReplay }) => (
      <>
        <span className="block font-medium">
          {type} {isReplay && <Badge>Replay</Badge>}
        </span>
        <span className="text-muted font-mono text-xs wrap-anywhere">{eventId}</span>
      </>
    )),
    timeColumn("Happened", "eventAt"),
    { title: "Outcome", cell: (delivery) => <Outcome delivery={delivery} /> },
    { title: "Tries", cell: ({ tries }) => tries },
    actsColumn((delivery) => <Replay delivery={delivery} targetId={targetId} />),
  ];
}

function Replay({ delivery, targetId }: { delivery: EventDelivery; targetId: string }) {
  const { id: deliveryId, type, eventId, data } = delivery;
  const params = { path: { id: targetId, deliveryId } };
  return (
    <DialogButton
      aria-label={`Replay ${type} ${eventId}`}
      dialog={
        <ConfirmDialog
          act="Replay"
          invalidates={CHANGED}
          kind="primary"
          onConfirm={() => api.post("/api/webhooks/{id}/deliveries/{deliveryId}/replay", { params })}
          title="Send this event again?"
          toast="Event queued again"
        >
          <p>It has the same event ID, so the receiver can recognize it.</p>
          <pre className="bg-sunken text-ink rounded-md px-3 py-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
            {JSON.stringify(data, undefined, 2)}
          </pre>
        </ConfirmDialog>
      }
      kind="quiet"
    >
      Replay
    </DialogButton>
  );
}

function Outcome({ delivery: { state, code, status } }: { delivery: EventDelivery }) {
  const why = [code === null ? null : CODE_WORDS[code], status === null ? null : `HTTP ${status}`];
  const details = why.filter((part) => part !== null).join(", ");
  return (
    <>
      <StateBadge {...DELIVERY_WORDS[state]} />
      {details !== "" && <span className="text-muted block text-xs">{details}</span>}
    </>
  );
}
