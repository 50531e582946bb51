import { useQueryClient } from "@tanstack/react-query";
import { timeZones } from "#server/web/app/data/browser.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { sessionQuery, workspacesQuery } from "#server/web/app/data/queries.ts";
import { ForAdmins } from "#server/web/app/shell/for-admins.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Form, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";

import { toast } from "#server/web/app/ui/toast.tsx";
import { SourcePeople } from "./source-people.tsx";

/** The workspace: its name, its time zone, how secrets in texts are handled. */
export function Page() {
  return (
    <ForAdmins title="General">
      <General />
    </ForAdmins>
  );
}

function General() {
  const { workspace } = useSession();
  const client = useQueryClient();

  async function save(fields: FormData): Promise<void> {
    const body = {
      name: text(fields, "name"),
      timeZone: text(fields, "timeZone"),
      secrets: text(fields, "secrets") === "index" ? ("index" as const) : ("mask" as const),
    };
    await take(api.PATCH("/api/workspace", { body }));
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await client.invalidateQueries({ queryKey: workspacesQuery.queryKey });
    toast("Settings saved");
  }

  return (
    <>
      <PageHeading title="General">Settings that apply to everyone in this workspace.</PageHeading>
      <div className="space-y-5">
        <Section title="Workspace">
          <Form key={workspace.id} onSubmit={save} submit="Save">
            <div className="grid gap-4 sm:grid-cols-2">
              <TextField autoComplete="off" defaultValue={workspace.name} label="Name" maxLength={120} name="name" />
              <SelectField
                choices={timeZones(workspace.timeZone).map((zone) => ({
                  value: zone,
                  label: zone.replaceAll("_", " "),
                }))}
                defaultValue={workspace.timeZone}
                hint="Used for members who haven't set their own."
                label="Time zone"
                name="timeZone"
              />
            </div>
            <SelectField
              choices={[
                { value: "mask", label: "Remove them" },
                { value: "index", label: "Index them unchanged" },
              ]}
              defaultValue={workspace.secrets}
              hint="How kb handles tokens, private keys and passwords in documents. If removed, agents read “[removed: aws key]” instead. A change also applies to indexed items."
              label="Secrets in documents"
              name="secrets"
            />
          </Form>
        </Section>
        <SourcePeople />
      </div>
    </>
  );
}
