import type { PatchConnectorBody } from "#api/connector-records.ts";
import { api } from "#server/web/app/data/client.ts";
import { Form } from "#server/web/app/ui/form.tsx";
import { SchemaFields } from "./schema-field.tsx";
import { type SchemaField, valuesOf } from "./schema-fields.ts";

interface SecretsFormProps {
  connectorId: string;
  fields: readonly SchemaField[];
  /** Returns the change for the entered secrets. */
  bodyOf(secrets: Record<string, string>): PatchConnectorBody;
  submit: string;
  toast: string;
}

/** A form for the sign-in secrets of an existing connector. */
export function SecretsForm({ connectorId, fields, bodyOf, submit, toast }: SecretsFormProps) {
  function save(form: FormData): Promise<unknown> {
    const body = bodyOf(valuesOf(fields, form) as Record<string, string>); // secrets are texts
    return api.patch("/api/connectors/{id}", { params: { path: { id: connectorId } }, body });
  }

  return (
    <div className="max-w-xl">
      <Form invalidates={["connectors"]} onSubmit={save} resets submit={submit} toast={toast}>
        <SchemaFields fields={fields} />
      </Form>
    </div>
  );
}
