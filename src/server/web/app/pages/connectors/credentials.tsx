import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Connector } from "#api/connector-records.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { sourcesQuery } from "#server/web/app/data/connectors.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Form } from "#server/web/app/ui/form.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { SchemaField } from "./schema-field.tsx";
import { fieldsIn, valuesOf } from "./schema-fields.ts";

/** New secrets for a connector that waits for them; they are tested with the source before anything is stored. */
export function Credentials({
  connector: { id, providerId },
  command,
}: {
  connector: Connector;
  /** Shown when the source takes no secrets that can be entered here. */
  command: string | undefined;
}) {
  const sources = useQuery(sourcesQuery).data?.sources;
  const client = useQueryClient();
  const fields = fieldsIn(
    sources?.find((source) => source.providerId === providerId)?.credentialsSchema,
    "credentials",
  );
  if (sources === undefined) return null;
  if (fields.length === 0) {
    return command !== undefined && <CopyField label="Run in a terminal" showsLabel value={command} />;
  }

  async function save(form: FormData): Promise<void> {
    const credentials = valuesOf(fields, form) as Record<string, string>; // secrets are texts
    await take(api.PATCH("/api/connectors/{id}", { params: { path: { id } }, body: { credentials } }));
    toast("Credentials updated");
    await client.invalidateQueries({ queryKey: ["connectors"] });
  }

  return (
    <Section title="New credentials">
      <div className="max-w-xl">
        <Form onSubmit={save} resets submit="Update credentials">
          {fields.map((field) => (
            <SchemaField field={field} key={field.key} />
          ))}
        </Form>
      </div>
    </Section>
  );
}
