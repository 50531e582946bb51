import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Connector } from "#api/connector-records.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { sourcesQuery } from "#server/web/app/data/connectors.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Form } from "#server/web/app/ui/form.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { SchemaField } from "./schema-field.tsx";
import { fieldsIn, valuesOf } from "./schema-fields.ts";

/** Takes over a connector whose owner left, with the person's own secrets if its source needs any. */
export function TakeOver({ connector: { id, name, providerId, connectionId } }: { connector: Connector }) {
  const kind = useQuery(sourcesQuery).data?.sources.find((source) => source.providerId === providerId);
  const client = useQueryClient();
  if (connectionId !== null) {
    return (
      <p className="text-muted">
        It reads through a connection of its former owner, so no one can take it over.{" "}
        <Link to="/workspace/connectors/new">Add a connector</Link> on a connection of your own, then delete this one.
      </p>
    );
  }
  if (kind === undefined) return null;
  const isOpen = kind.authTypes.includes("none");
  const fields = fieldsIn(kind.credentialsSchema, "credentials").map((field) =>
    isOpen ? { ...field, isRequired: false } : field,
  );
  if (fields.length === 0 && !isOpen) {
    return <CopyField label="Run in a terminal" showsLabel value={`kb connectors update ${id} --account ACCOUNT`} />;
  }

  async function save(form: FormData): Promise<void> {
    const credentials = valuesOf(fields, form) as Record<string, string>; // secrets are texts
    const body = Object.keys(credentials).length > 0 ? { credentials } : { takeOver: true as const };
    await take(api.PATCH("/api/connectors/{id}", { params: { path: { id } }, body }));
    toast(`You own ${name} now`);
    await client.invalidateQueries({ queryKey: ["connectors"] });
  }

  return (
    <Section
      description="You become its owner, and everything is read again. If you couldn't see this connector before, what it read is removed until then. If you change its settings, or let more people see it, what wasn't read again yet stays hidden."
      title="Take over"
    >
      <div className="max-w-xl">
        <Form onSubmit={save} resets submit="Take over">
          {fields.map((field) => (
            <SchemaField field={field} key={field.key} />
          ))}
        </Form>
      </div>
    </Section>
  );
}
