import { whoMay } from "#api/act-words.ts";
import type { Connector } from "#api/connector-records.ts";
import { api } from "#server/web/app/data/client.ts";
import { useSource } from "#server/web/app/data/connectors.ts";
import { DeleteButton } from "#server/web/app/shell/delete-button.tsx";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Form, NameField, SelectField, text } from "#server/web/app/ui/form.tsx";
import { AccessField, accessOf } from "./access-field.tsx";

const EVERY: readonly number[] = [5, 15, 30, 60, 360, 1440];

/** The connector's name, who may see it, how often it syncs, and a button to remove it. */
export function Settings({ connector }: { connector: Connector }) {
  const { id, name, access, schedule, providerId, isPushed, allowed } = connector;
  const kind = useSource(providerId);
  const isForOwner = kind?.isForOwner === true;
  const hasAccess = !isForOwner && allowed.includes("narrow_access");
  const hasSchedule = !isPushed && allowed.includes("schedule");
  const minutes = schedule === null ? "" : String(schedule.everyMinutes);

  function save(form: FormData): Promise<unknown> {
    const wanted = hasAccess ? accessOf(form) : access;
    const every = text(form, "schedule.everyMinutes");
    const body = {
      ...(text(form, "name") !== name && { name: text(form, "name") }),
      ...(!isSameAccess(wanted, access) && { access: wanted }),
      ...(hasSchedule && every !== minutes && { schedule: every === "" ? null : { everyMinutes: Number(every) } }),
    };
    return api.patch("/api/connectors/{id}", { params: { path: { id } }, body });
  }

  const everys = new Set([...EVERY, ...(schedule === null ? [] : [schedule.everyMinutes])]);
  return (
    <Section
      action={allowed.includes("delete") && <Delete connector={connector} />}
      description={whoMay(connector, "configure")}
      title="Settings"
    >
      <div className="max-w-xl" key={`${name} ${JSON.stringify(access)} ${minutes}`}>
        <Form invalidates={["connectors"]} onSubmit={save} submit="Save" toast="Saved">
          <NameField defaultValue={name} maxLength={80} />
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
                ...[...everys].sort((a, b) => a - b).map((every) => [String(every), everyOf(every)] as const),
                ["", "Only when you start a sync"],
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
  return (
    <DeleteButton
      name={name}
      onDelete={() => api.delete("/api/connectors/{id}", { params: { path: { id } } })}
      then="/workspace/connectors"
      what="connector"
    >
      Its items disappear from search immediately and are deleted for good. You can't undo this. The source keeps
      everything.
    </DeleteButton>
  );
}
