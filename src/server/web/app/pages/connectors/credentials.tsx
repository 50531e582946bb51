import type { Connector } from "#api/connector-records.ts";
import { useSource } from "#server/web/app/data/connectors.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { TerminalCommand } from "#server/web/app/ui/copy-field.tsx";
import { fieldsIn } from "./schema-fields.ts";
import { SecretsForm } from "./secrets-form.tsx";

/**
 * A form for new secrets of a connector that waits for them. They are tested with the source before anything is stored.
 */
export function Credentials({
  connector: { id, providerId },
  command,
}: {
  connector: Connector;
  /** Shown if the source's secrets can't be entered here. */
  command: string | undefined;
}) {
  const source = useSource(providerId);
  if (source === undefined) return null;
  const fields = fieldsIn(source.credentialsSchema, "credentials");
  if (fields.length === 0) return command !== undefined && <TerminalCommand command={command} />;
  return (
    <Section title="New credentials">
      <SecretsForm
        bodyOf={(credentials) => ({ credentials })}
        connectorId={id}
        fields={fields}
        submit="Update credentials"
        toast="Credentials updated"
      />
    </Section>
  );
}
