import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { whoMay } from "#api/act-words.ts";
import type { Connector } from "#api/connector-records.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { sourcesQuery } from "#server/web/app/data/connectors.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog } from "#server/web/app/ui/dialog.tsx";
import { Form, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { AccessField, accessOf } from "./access-field.tsx";

const EVERY: readonly number[] = [5, 15, 30, 60, 360, 1440];

/** Its name, who may see it and how often it syncs; and its removal. */
export function Settings({ connector }: { connector: Connector }) {
  const { id, name, access, schedule, providerId, isPushed, allowed } = connector;
  const kind = useQuery(sourcesQuery).data?.sources.find((source) => source.providerId === providerId);
  const isForOwner = kind?.isForOwner === true;
  const hasAccess = !isForOwner && allowed.includes("narrow_access");
  const hasSchedule = !isPushed && allowed.includes("schedule");
  const client = useQueryClient();
  const minutes = schedule === null ? "" : String(schedule.everyMinutes);

  async function save(form: FormData): Promise<void> {
    const wanted = hasAccess ? accessOf(form) : access;
    const every = text(form, "schedule.everyMinutes");
    const body = {
      ...(text(form, "name") !== name && { name: text(form, "name") }),
      ...(!isSameAccess(wanted, access) && { access: wanted }),
      ...(hasSchedule && every !== minutes && { schedule: every === "" ? null : { everyMinutes: Number(every) } }),
    };
    await take(api.PATCH("/api/connectors/{id}", { params: { path: { id } }, body }));
    toast("Saved");
    await client.invalidateQueries({ queryKey: ["connectors"] });
  }

  const everys = new Set([...EVERY, ...(schedule === null ? [] : [schedule.everyMinutes])]);
  return (
    <Section
      action={allowed.includes("delete") && <Delete connector={connector} />}
      description={whoMay(connector, "configure")}
      title="Settings"
    >
      <div className="max-w-xl" key={`${name} ${JSON.stringify(access)} ${minutes}`}>
        <Form onSubmit={save} submit="Save">
          <TextField autoComplete="off" defaultValue={name} label="Name" maxLength={80} name="name" />
          {hasAccess && (
            <AccessField
              access={access}
              acl={kind?.acl}
              hint={whoMay(connector, "widen_access") ?? "Only its owner can let more people see it."}
              isNarrowing={!allowed.includes("widen_access")}
            />
          )}
          {hasSchedule && (
            <SelectField
              choices={[
                ...[...everys].sort((a, b) => a - b).map((every) => ({ value: String(every), label: everyOf(every) })),
                { value: "", label: "Only when you ask" },
              ]}
              defaultValue={minutes}
              label="Schedule"
              name="schedule.everyMinutes"
            />
          )}
        </Form>
      </div>
    </Section>
  );
}

function isSameAccess(a: Connector["access"], b: Connector["access"]): boolean {
  const idsOf = (ids: readonly string[]) => [...ids].sort().join(" ");
  if (a.visibility !== b.visibility) return false;
  return (
    a.visibility !== "members" ||
    [a.memberIds, a.groupIds].map(idsOf).join() === [b.memberIds, b.groupIds].map(idsOf).join()
  );
}

function everyOf(minutes: number): string {
  if (minutes === 1440) return "Every day";
  if (minutes % 60 !== 0) return `Every ${minutes} minutes`;
  return minutes === 60 ? "Every hour" : `Every ${minutes / 60} hours`;
}

function Delete({ connector: { id, name } }: { connector: Connector }) {
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();

  async function remove(): Promise<void> {
    await take(api.DELETE("/api/connectors/{id}", { params: { path: { id } } }));
    toast(`${name} deleted`);
    await navigate({ to: "/workspace/connectors" });
    await client.invalidateQueries({ queryKey: ["connectors"] });
  }

  return (
    <>
      <Button kind="quiet" onClick={() => setAsking(true)}>
        Delete connector
      </Button>
      <ConfirmDialog
        act="Delete"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={remove}
        title={`Delete “${name}”?`}
      >
        <p>
          Its items disappear from search immediately and are deleted for good. You can't undo this. The source keeps
          everything.
        </p>
      </ConfirmDialog>
    </>
  );
}
