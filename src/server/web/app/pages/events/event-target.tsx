import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { EVENT_TYPES } from "#api/event-types.ts";
import type { EventTarget } from "#api/events.ts";
import { api } from "#server/web/app/data/client.ts";
import { Problem } from "#server/web/app/data/problem.ts";
import { eventTargetQuery } from "#server/web/app/data/queries.ts";
import { useRefetch } from "#server/web/app/data/refetch.ts";
import { forAdmins } from "#server/web/app/shell/for-admins.tsx";
import { LoadedPage } from "#server/web/app/shell/loaded-page.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useAct } from "#server/web/app/ui/act.ts";
import { Section, StateBadge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog, Dialog, DialogButton } from "#server/web/app/ui/dialog.tsx";
import { FormDialog } from "#server/web/app/ui/form-dialog.tsx";
import { Fact, Facts } from "#server/web/app/ui/facts.tsx";
import { Form, SelectField, text } from "#server/web/app/ui/form.tsx";
import type { Choice } from "#server/web/app/ui/picker.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { Deliveries } from "./deliveries.tsx";
import { CODE_WORDS, PAUSE_WORDS, stateWords } from "./event-words.ts";
import { Secret, TypeFields, typesOf, UrlField } from "./new-target.tsx";

/** One event target: its event types, whether it works, and its deliveries. */
export const Page = forAdmins("Event target", Target);

function Target() {
  const { targetId = "" } = useParams({ strict: false });
  return (
    <LoadedPage query={useQuery(eventTargetQuery(targetId))}>
      {(target) => (
        <PageFrame
          action={<Acts target={target} />}
          lead={<StateBadge {...stateWords(target)} />}
          title={target.url}
          within="/workspace/events"
        >
          {target.pausedFor && (
            <Notice tone={target.pausedFor === "admin" ? "info" : "warn"}>{PAUSE_WORDS[target.pausedFor]}</Notice>
          )}
          <Overview target={target} />
          <Deliveries targetId={target.id} />
          <Manage target={target} />
        </PageFrame>
      )}
    </LoadedPage>
  );
}

/** The names of the queries about a target. */
const CHANGED = ["event-targets", "event-target"] as const;

function Acts({ target: { id, state } }: { target: EventTarget }) {
  const refetch = useRefetch();
  const params = { path: { id } };
  const isPaused = state === "paused";

  async function test(): Promise<string> {
    const { code } = (await api.post("/api/webhooks/{id}/test", { params })).delivery;
    if (code === null) return "Ping delivered";
    await refetch(CHANGED);
    throw new Problem({ code, detail: `Ping failed: ${CODE_WORDS[code]}.` });
  }
  async function toggle(): Promise<string> {
    await api.patch("/api/webhooks/{id}", { params, body: { state: isPaused ? "active" : "paused" } });
    return isPaused ? "Event target resumed" : "Event target paused";
  }
  const { run, isBusy, problem } = useAct((work: () => Promise<string>) => work(), {
    toast: (words) => words,
    invalidates: CHANGED,
  });

  return (
    <div className="flex flex-wrap gap-2">
      <Button isBusy={isBusy} onClick={() => run(test)}>
        Send ping
      </Button>
      <Button isBusy={isBusy} kind={isPaused ? "primary" : "plain"} onClick={() => run(toggle)}>
        {isPaused ? "Resume" : "Pause"}
      </Button>
      <ProblemNotice problem={problem} />
    </div>
  );
}

function Overview({ target }: { target: EventTarget }) {
  const { types, nextTryAt, failingSince, secretOverlapEndsAt } = target;
  return (
    <Section title="Overview">
      <Facts look="long">
        <Fact label="Types">{types.length === EVENT_TYPES.length ? "All" : types.join(", ")}</Fact>
        <Fact label="Waiting">{target.waiting}</Fact>
        <Fact label="Next try">{nextTryAt && <Time at={nextTryAt} />}</Fact>
        <Fact label="Failing since">{failingSince && <Time at={failingSince} />}</Fact>
        <Fact label="Last delivered">
          <Time at={target.lastDeliveredAt} />
        </Fact>
        <Fact label="Signed with both secrets until">{secretOverlapEndsAt && <Time at={secretOverlapEndsAt} />}</Fact>
        <Fact label="Added">
          <Time at={target.createdAt} /> by {target.createdBy?.name ?? "a former member"}
        </Fact>
      </Facts>
    </Section>
  );
}

function Manage({ target }: { target: EventTarget }) {
  const { id, url } = target;
  const navigate = useNavigate();

  async function remove(): Promise<void> {
    await api.delete("/api/webhooks/{id}", { params: { path: { id } } });
    await navigate({ to: "/workspace/events" });
  }

  return (
    <Section description="A secret is shown only once, when you create it." title="Manage">
      <div className="flex flex-wrap gap-2">
        <DialogButton dialog={<Change target={target} />}>Change URL and types</DialogButton>
        <DialogButton dialog={<Rotate target={target} />}>Rotate secret</DialogButton>
        <DialogButton
          dialog={
            <ConfirmDialog
              act="Delete"
              invalidates={["event-targets"]}
              onConfirm={remove}
              title="Delete this event target?"
              toast="Event target deleted"
            >
              kb stops sending events to {url} and deletes its delivery log. You can't undo this.
            </ConfirmDialog>
          }
          kind="danger"
        >
          Delete
        </DialogButton>
      </div>
    </Section>
  );
}

function Change({ target: { id, url, types } }: { target: EventTarget }) {
  function save(fields: FormData): Promise<unknown> {
    const body = { url: text(fields, "url"), types: typesOf(fields) };
    return api.patch("/api/webhooks/{id}", { params: { path: { id } }, body });
  }

  return (
    <FormDialog
      invalidates={CHANGED}
      onSubmit={save}
      submit="Save"
      title="Change URL and types"
      toast="Event target saved"
    >
      <UrlField defaultValue={url} hint="Waiting events go to the new URL, too." />
      <TypeFields chosen={types} />
    </FormDialog>
  );
}

const OVERLAPS: readonly Choice[] = [
  ["86400", "For a day"],
  ["3600", "For an hour"],
  ["604800", "For a week"],
  ["0", "Not at all: the old secret leaked"],
];

function Rotate({ target: { id } }: { target: EventTarget }) {
  const [secret, setSecret] = useState<string>();

  async function rotate(fields: FormData): Promise<void> {
    const body = { overlapSeconds: Number(text(fields, "overlapSeconds")) };
    setSecret((await api.post("/api/webhooks/{id}/rotate-secret", { params: { path: { id } }, body })).secret);
  }

  if (secret !== undefined) {
    return (
      <Dialog isSticky title="Secret rotated">
        <Secret secret={secret} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Rotate secret">
      <Form invalidates={CHANGED} onSubmit={rotate} submit="Rotate secret">
        <SelectField
          choices={OVERLAPS}
          hint="Until then, events are signed with both secrets, so that you can update the receiver."
          label="Also sign with the old secret"
          name="overlapSeconds"
        />
      </Form>
    </Dialog>
  );
}
