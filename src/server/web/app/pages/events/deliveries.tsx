import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { EventDelivery } from "#api/events.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { eventDeliveriesQuery, eventTargetsQuery } from "#server/web/app/data/queries.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { Badge, EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog, Dialog } from "#server/web/app/ui/dialog.tsx";
import { CheckboxField, Form, SelectField, text } from "#server/web/app/ui/form.tsx";
import { ACTS, Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { CODE_WORDS, DELIVERY_WORDS } from "./event-words.ts";

/** Deliveries to a target in the last 30 days, and sending them again. */
export function Deliveries({ targetId }: { targetId: string }) {
  const query = useInfiniteQuery(eventDeliveriesQuery(targetId));
  const [again, setAgain] = useState<EventDelivery>();
  const [isReplaying, setReplaying] = useState(false);
  const client = useQueryClient();
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ["event-deliveries", targetId] });
    await client.invalidateQueries({ queryKey: eventTargetsQuery.queryKey });
  };

  async function replayOne(): Promise<void> {
    if (again === undefined) return;
    const params = { path: { id: targetId, deliveryId: again.id } };
    await take(api.POST("/api/webhooks/{id}/deliveries/{deliveryId}/replay", { params }));
    toast("Event queued again");
    await refresh();
  }

  async function replaySpan(fields: FormData): Promise<void> {
    const since = new Date(Date.now() - Number(text(fields, "hours")) * 3_600_000).toISOString();
    const body = { since, state: fields.get("failed") === null ? ("all" as const) : ("failed" as const) };
    const { replayed } = await take(
      api.POST("/api/webhooks/{id}/replay", { params: { path: { id: targetId } }, body }),
    );
    toast(replayed === 1 ? "1 event queued again" : `${replayed} events queued again`);
    setReplaying(false);
    await refresh();
  }

  return (
    <Section
      action={<Button onClick={() => setReplaying(true)}>Replay events</Button>}
      description="Kept for 30 days. kb tries each event for about a day and keeps their order."
      title="Deliveries"
    >
      <LoadedPages query={query} rowsOf={({ deliveries }) => deliveries}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <EmptyState icon="external" title="Nothing sent yet">
              Send a ping to see whether the target works.
            </EmptyState>
          ) : (
            <Table columns={columns(setAgain)} keyOf={({ id }) => id} label="Deliveries" rows={deliveries} />
          )
        }
      </LoadedPages>
      <ConfirmDialog
        act="Replay"
        isOpen={again !== undefined}
        kind="primary"
        onClose={() => setAgain(undefined)}
        onConfirm={replayOne}
        title="Send this event again?"
      >
        <p>It has the same event ID, so the receiver can tell that it has seen it.</p>
        <pre className="bg-sunken text-ink rounded-md px-3 py-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
          {JSON.stringify(again?.data, undefined, 2)}
        </pre>
      </ConfirmDialog>
      <Dialog
        description="Events keep their IDs, and are sent after those already waiting."
        isOpen={isReplaying}
        onClose={() => setReplaying(false)}
        title="Replay events"
      >
        <Form onSubmit={replaySpan} submit="Replay events">
          <SelectField choices={SPANS} label="Events of" name="hours" />
          <CheckboxField defaultChecked label="Only events that the target never accepted" name="failed" />
        </Form>
      </Dialog>
    </Section>
  );
}

const SPANS = [
  { value: "1", label: "the last hour" },
  { value: "24", label: "the last day" },
  { value: "72", label: "the last 3 days" },
  { value: "168", label: "the last week" },
  { value: "720", label: "the last 30 days" },
];

function columns(onReplay: (delivery: EventDelivery) => void): Column<EventDelivery>[] {
  return [
    {
      title: "Event",
      isHeadless: true,
      cell: ({ type, eventId, isReplay }) => (
        <>
          <span className="block font-medium">
            {type} {isReplay && <Badge>Replay</Badge>}
          </span>
          <span className="text-muted font-mono text-xs wrap-anywhere">{eventId}</span>
        </>
      ),
    },
    { title: "Happened", cell: ({ eventAt }) => <Time at={eventAt} /> },
    { title: "Outcome", cell: (delivery) => <Outcome delivery={delivery} /> },
    { title: "Tries", cell: ({ tries }) => tries },
    {
      title: ACTS,
      isHeadless: true,
      cell: (delivery) => (
        <Button
          aria-label={`Replay ${delivery.type} ${delivery.eventId}`}
          kind="quiet"
          onClick={() => onReplay(delivery)}
        >
          Replay
        </Button>
      ),
    },
  ];
}

function Outcome({ delivery: { state, code, status } }: { delivery: EventDelivery }) {
  const { title, tone } = DELIVERY_WORDS[state];
  const why = [code === null ? null : CODE_WORDS[code], status === null ? null : `HTTP ${status}`];
  const details = why.filter((part) => part !== null).join(", ");
  return (
    <>
      <Badge tone={tone}>{title}</Badge>
      {details !== "" && <span className="text-muted block text-xs">{details}</span>}
    </>
  );
}
