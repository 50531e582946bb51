import { timeZones } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { forAdmins } from "#server/web/app/shell/for-admins.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Form, NameField, SelectField, text } from "#server/web/app/ui/form.tsx";
import { SourcePeople } from "./source-people.tsx";

/** The workspace: its name, its time zone, and how secrets in texts are handled. */
export const Page = forAdmins("General", General);

function General() {
  const { workspace } = useSession();

  function save(fields: FormData): Promise<unknown> {
    const body = {
      name: text(fields, "name"),
      timeZone: text(fields, "timeZone"),
      secrets: text(fields, "secrets") === "index" ? ("index" as const) : ("mask" as const),
    };
    return api.patch("/api/workspace", { body });
  }

  return (
    <PageFrame lead="Settings that apply to everyone in this workspace." title="General">
      <Section title="Workspace">
        <Form
          invalidates={["session", "workspaces"]}
          key={workspace.id}
          onSubmit={save}
          submit="Save"
          toast="Settings saved"
        >
          <div className="grid gap-4 sm:grid-cols-2">
            <NameField defaultValue={workspace.name} maxLength={120} />
            <SelectField
              choices={timeZones(workspace.timeZone)}
              defaultValue={workspace.timeZone}
              hint="Used for members who haven't set their own."
              label="Time zone"
              name="timeZone"
            />
          </div>
          <SelectField
            choices={[
              ["mask", "Remove them"],
              ["index", "Index them unchanged"],
            ]}
            defaultValue={workspace.secrets}
            hint="How kb handles tokens, private keys and passwords in documents. If removed, agents read “[removed: aws key]” instead. A change also applies to indexed items."
            label="Secrets in documents"
            name="secrets"
          />
        </Form>
      </Section>
      <SourcePeople />
    </PageFrame>
  );
}
