import { Link } from "@tanstack/react-router";
import type { Connector } from "#api/connector-records.ts";
import { useSource } from "#server/web/app/data/connectors.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { TerminalCommand } from "#server/web/app/ui/copy-field.tsx";
import { secretsOf } from "./schema-fields.ts";
import { SecretsForm } from "./secrets-form.tsx";

/** Takes over a connector whose owner left. The person enters their own secrets if the source needs any. */
export function TakeOver({ connector: { id, name, providerId, connectionId } }: { connector: Connector }) {
  const source = useSource(providerId);
  if (connectionId !== null) {
    return (
      <p className="text-muted">
        It reads through a connection of its former owner, so no one can take it over.{" "}
        <Link to="/workspace/connectors/new">Add a connector</Link> on a connection of your own, then delete this one.
      </p>
    );
  }
  if (source === undefined) return null;
  const fields = secretsOf(source);
  if (fields.length === 0 && !source.authTypes.includes("none")) {
    return <TerminalCommand command={`kb connectors update ${id} --account ACCOUNT`} />;
  }
  return (
    <Section
      description="You become its owner, and everything is read again. If you couldn't see this connector before, what it read is removed until then. If you change its settings, or let more people see it, what wasn't read again yet stays hidden."
      title="Take over"
    >
      <SecretsForm
        bodyOf={(credentials) => (Object.keys(credentials).length > 0 ? { credentials } : { takeOver: true })}
        connectorId={id}
        fields={fields}
        submit="Take over"
        toast={`You own ${name} now`}
      />
    </Section>
  );
}
