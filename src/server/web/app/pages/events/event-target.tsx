import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { EVENT_TYPES } from "#api/event-types.ts";
import type { EventTarget } from "#api/events.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { Problem, toProblem } from "#server/web/app/data/problem.ts";
import { eventTargetQuery, eventTargetsQuery } from "#server/web/app/data/queries.ts";
import { ForAdmins } from "#server/web/app/shell/for-admins.tsx";
import { NothingHere } from "#server/web/app/shell/nothing-here.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { Section, Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog, Dialog } from "#server/web/app/ui/dialog.tsx";
import { Form, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { Deliveries } from "./deliveries.tsx";
import { TargetState } from "./event-targets.tsx";
import { Secret, TypeFields, typesOf } from "./new-target.tsx";
import { CODE_WORDS, PAUSE_WORDS } from "./event-words.ts";

/** One event target: its event types, whether it works, its deliveries. */
export function Page() {
  return (
    <ForAdmins title="Event target">
      <Target />
    </ForAdmins>
  );
}

function Target() {
  const { targetId = "" } = useParams({ strict: false });
  const query = useQuery(eventTargetQuery(targetId));
  if (query.error !== null) {
    const problem = toProblem(query.error);
    const isNowhere = problem.code === "not_found" || problem.code === "invalid_request";
    return isNowhere ? <NothingHere /> : <ProblemNotice problem={problem} />;
  }
  if (query.data === undefined) return <Skeleton lines={6} />;
  const { target } = query.data;
  return (
    <>
      <nav aria-label="Breadcrumb" className="text-muted mb-1.5 text-xs">
        <Link to="/workspace/events">Events</Link>
      </nav>
      <PageHeading action={<Acts target={target} />} title={target.url}>
        <TargetState target={target} />
      </PageHeading>
      <div className="space-y-5">
        {target.pausedFor !== null && (
          <Notice tone={target.pausedFor === "admin" ? "info" : "warn"}>{PAUSE_WORDS[target.pausedFor]}</Notice>
        )}
        <Facts target={target} />
        <Deliveries targetId={target.id} />
        <Manage target={target} />
      </div>
    </>
  );
}

/** Refetches the target and its deliveries. */
function useRefresh(targetId: string): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: eventTargetsQuery.queryKey });
    await client.invalidateQueries({ queryKey: ["event-deliveries", targetId] });
  };
}

function Acts({ target }: { target: EventTarget }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const refresh = useRefresh(target.id);
  const params = { path: { id: target.id } };
  const isPaused = target.state === "paused";

  async function act(work: () => Promise<void>): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
      await refresh();
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(false);
    }
  }

  const test = () =>
    act(async () => {
      const { delivery } = await take(api.POST("/api/webhooks/{id}/test", { params }));
      if (delivery.code === null) toast("Ping delivered");
      else setProblem(new Problem({ code: delivery.code, detail: `Ping failed: ${CODE_WORDS[delivery.code]}.` }));
    });
  const toggle = () =>
    act(async () => {
      await take(api.PATCH("/api/webhooks/{id}", { params, body: { state: isPaused ? "active" : "paused" } }));
      toast(isPaused ? "Event target resumed" : "Event target paused");
    });

  return (
    <div className="flex flex-wrap gap-2">
      <Button isBusy={isBusy} onClick={() => void test()}>
        Send ping
      </Button>
      <Button isBusy={isBusy} kind={isPaused ? "primary" : "plain"} onClick={() => void toggle()}>
        {isPaused ? "Resume" : "Pause"}
      </Button>
      {problem && <ProblemNotice problem={problem} />}
    </div>
  );
}

function Facts({ target }: { target: EventTarget }) {
  const { types, nextTryAt, failingSince, secretOverlapEndsAt } = target;
  return (
    <Section title="Overview">
      <dl className="space-y-1.5">
        <Fact label="Types">{types.length === EVENT_TYPES.length ? "All" : types.join(", ")}</Fact>
        <Fact label="Waiting">{target.waiting}</Fact>
        {nextTryAt !== null && (
          <Fact label="Next try">
            <Time at={nextTryAt} />
          </Fact>
        )}
        {failingSince !== null && (
          <Fact label="Failing since">
            <Time at={failingSince} />
          </Fact>
        )}
        <Fact label="Last delivered">
          <Time at={target.lastDeliveredAt} />
        </Fact>
        {secretOverlapEndsAt !== null && (
          <Fact label="Signed with both secrets until">
            <Time at={secretOverlapEndsAt} />
          </Fact>
        )}
        <Fact label="Added">
          <Time at={target.createdAt} /> by {target.createdBy?.name ?? "a former member"}
        </Fact>
      </dl>
    </Section>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap gap-x-4">
      <dt className="text-muted w-52 shrink-0">{label}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </div>
  );
}

type Opened = "change" | "rotate" | "remove";

function Manage({ target }: { target: EventTarget }) {
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  return (
    <Section description="A secret is shown only once, when you create it." title="Manage">
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => setOpened("change")}>Change URL and types</Button>
        <Button onClick={() => setOpened("rotate")}>Rotate secret</Button>
        <Button kind="danger" onClick={() => setOpened("remove")}>
          Delete
        </Button>
      </div>
      <Change isOpen={opened === "change"} onClose={close} target={target} />
      <Rotate isOpen={opened === "rotate"} onClose={close} target={target} />
      <Remove isOpen={opened === "remove"} onClose={close} target={target} />
    </Section>
  );
}

interface ActProps {
  target: EventTarget;
  isOpen: boolean;
  onClose(): void;
}

function Change({ target, isOpen, onClose }: ActProps) {
  const refresh = useRefresh(target.id);

  async function save(fields: FormData): Promise<void> {
    const body = { url: text(fields, "url"), types: typesOf(fields) };
    await take(api.PATCH("/api/webhooks/{id}", { params: { path: { id: target.id } }, body }));
    toast("Event target saved");
    await refresh();
    onClose();
  }

  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Change URL and types">
      <Form onSubmit={save} submit="Save">
        <TextField
          autoComplete="off"
          defaultValue={target.url}
          hint="Waiting events go to the new URL, too."
          label="URL"
          maxLength={2_000}
          name="url"
          type="url"
        />
        <TypeFields chosen={target.types} />
      </Form>
    </Dialog>
  );
}

const OVERLAPS = [
  { value: "86400", label: "For a day" },
  { value: "3600", label: "For an hour" },
  { value: "604800", label: "For a week" },
  { value: "0", label: "Not at all: the old secret leaked" },
];

function Rotate({ target, isOpen, onClose }: ActProps) {
  const [secret, setSecret] = useState<string>();
  const refresh = useRefresh(target.id);

  async function rotate(fields: FormData): Promise<void> {
    const body = { overlapSeconds: Number(text(fields, "overlapSeconds")) };
    const made = await take(
      api.POST("/api/webhooks/{id}/rotate-secret", { params: { path: { id: target.id } }, body }),
    );
    setSecret(made.secret);
    await refresh();
  }

  function close(): void {
    setSecret(undefined);
    onClose();
  }

  return (
    <Dialog
      isOpen={isOpen}
      isSticky={secret !== undefined}
      onClose={close}
      title={secret === undefined ? "Rotate secret" : "Secret rotated"}
    >
      {secret === undefined ? (
        <Form onSubmit={rotate} submit="Rotate secret">
          <SelectField
            choices={OVERLAPS}
            hint="Until then, events are signed with both secrets, so that you can update the receiver."
            label="Also sign with the old secret"
            name="overlapSeconds"
          />
        </Form>
      ) : (
        <Secret onDone={close} secret={secret} />
      )}
    </Dialog>
  );
}

function Remove({ target, isOpen, onClose }: ActProps) {
  const navigate = useNavigate();
  const client = useQueryClient();

  async function remove(): Promise<void> {
    await take(api.DELETE("/api/webhooks/{id}", { params: { path: { id: target.id } } }));
    toast("Event target deleted");
    await navigate({ to: "/workspace/events" });
    await client.invalidateQueries({ queryKey: eventTargetsQuery.queryKey, exact: true });
  }

  return (
    <ConfirmDialog act="Delete" isOpen={isOpen} onClose={onClose} onConfirm={remove} title="Delete this event target?">
      <p className="wrap-anywhere">
        kb stops sending events to {target.url} and deletes its delivery log. You can't undo this.
      </p>
    </ConfirmDialog>
  );
}
