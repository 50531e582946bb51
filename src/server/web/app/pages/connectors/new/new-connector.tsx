import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { defaultConnectorName } from "#api/connector-name.ts";
import type { BrowseBody, Connector, SourceKind } from "#api/connector-records.ts";
import { ACL_WORDS } from "#server/web/app/connector-words.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { sourcesQuery } from "#server/web/app/data/connectors.ts";
import { accountsQuery } from "#server/web/app/data/queries.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { NothingHere } from "#server/web/app/shell/nothing-here.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { Section } from "#server/web/app/ui/bits.tsx";
import { buttonClass } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Form, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { AccessField, accessOf } from "../access-field.tsx";
import { Chooser } from "./chooser.tsx";
import { SchemaField } from "./schema-field.tsx";
import { fieldsIn, valuesOf } from "./schema-fields.ts";

interface Made {
  connector: Connector;
  key?: string | undefined;
  warnings?: readonly string[] | undefined;
}

/** Connects a source: its settings and secrets from its schema, what to index, who may see it. */
export function Page() {
  const { providerId = "" } = useParams({ strict: false });
  const query = useQuery(sourcesQuery);
  return (
    <Loaded query={query}>
      {({ sources }) => {
        const source = sources.find((one) => one.providerId === providerId && one.available);
        return source === undefined ? <NothingHere /> : <NewConnector source={source} />;
      }}
    </Loaded>
  );
}

function NewConnector({ source }: { source: SourceKind }) {
  const [made, setMade] = useState<Made>();
  return (
    <>
      <nav aria-label="Breadcrumb" className="text-muted mb-1.5 text-xs">
        <Link to="/workspace/connectors">Connectors</Link> / <Link to="/workspace/connectors/new">Add</Link>
      </nav>
      <PageHeading title={`New connector: ${source.name}`}>{ACL_WORDS[source.acl]}</PageHeading>
      {made === undefined ? <Settings onMade={setMade} source={source} /> : <Told made={made} />}
    </>
  );
}

function Settings({ source, onMade }: { source: SourceKind; onMade(made: Made): void }) {
  const { providerId, authTypes, configSchema, credentialsSchema, capabilities, acl } = source;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [included, setIncluded] = useState<readonly string[]>([]);
  const frame = useRef<HTMLDivElement>(null);
  const settings = fieldsIn(configSchema, "config");
  const [accountId, setAccountId] = useState<string>();
  const takesAccount = authTypes.includes("account");
  const mine = useQuery({ ...accountsQuery, enabled: takesAccount }).data;
  const accounts = (mine?.accounts ?? []).filter((one) => one.providerId === providerId && one.state === "active");
  const account = accountId ?? accounts[0]?.id ?? "";
  const instance =
    accounts.find(({ id }) => id === account)?.baseUrl ??
    mine?.providers.find((provider) => provider.providerId === providerId)?.baseUrl;
  const isOpen = authTypes.includes("none");
  const secrets = fieldsIn(credentialsSchema, "credentials").map((field) =>
    isOpen ? { ...field, isRequired: false } : field,
  );

  const bodyOf = (form: FormData): BrowseBody => {
    const credentials = valuesOf(secrets, form) as Record<string, string>; // secrets are texts
    const hasSecrets = Object.keys(credentials).length > 0;
    const signIn = account === "" ? hasSecrets && { credentials } : { accountId: account };
    return { providerId, config: valuesOf(settings, form), ...signIn };
  };

  async function create(form: FormData): Promise<void> {
    const access = accessOf(form);
    const scope = included.length === 0 ? {} : { scope: { include: [...included], exclude: [] } };
    const { config, ...rest } = bodyOf(form);
    const name = text(form, "name") || defaultConnectorName(source, config);
    const body = { ...rest, config, name, access, ...scope };
    const made = await take(api.POST("/api/connectors", { body }));
    await client.invalidateQueries({ queryKey: ["connectors"] });
    toast(`${made.connector.name} connected`);
    if (made.key !== undefined || made.warnings !== undefined) return onMade(made);
    await navigate({ to: `/workspace/connectors/${made.connector.id}` });
  }

  const required = settings.filter(({ isRequired }) => isRequired);
  const others = settings.filter(({ isRequired }) => !isRequired);
  return (
    <Section title="Settings">
      <div className="max-w-xl" ref={frame}>
        <Form
          beside={
            <Link className="text-accent underline" to="/workspace/connectors/new">
              Cancel
            </Link>
          }
          onSubmit={create}
          submit="Connect"
        >
          {required.map((field) =>
            field.key === "url" && typeof instance === "string" ? (
              <SchemaField field={field} key={instance} preset={instance} />
            ) : (
              <SchemaField field={field} key={field.key} />
            ),
          )}
          {accounts.length > 0 && (
            <SelectField
              choices={[
                ...accounts.map(({ id, label }) => ({ value: id, label })),
                ...(secrets.length === 0 ? [] : [{ value: "", label: "Other credentials" }]),
              ]}
              label="Account"
              name="accountId"
              onChange={(event) => setAccountId(event.currentTarget.value)}
              value={account}
            />
          )}
          {takesAccount && accounts.length === 0 && (
            <p className="text-muted">
              <Link
                className="text-accent underline"
                search={{ connect: providerId, returnTo: `/workspace/connectors/new/${providerId}` }}
                to="/settings/accounts"
              >
                Connect your account
              </Link>{" "}
              to sign in with it{secrets.length === 0 ? "." : ", or enter credentials below."}
            </p>
          )}
          {account === "" && secrets.map((field) => <SchemaField field={field} isSecret key={field.key} />)}
          <TextField
            autoComplete="off"
            hint="Without one, it is called after what it indexes."
            isOptional
            label="Name"
            maxLength={80}
            name="name"
          />
          <AccessField
            access={{ visibility: acl === "connector" ? "private" : "source", memberIds: [], groupIds: [] }}
            acl={acl}
            hint="You can change this later. Nobody sees more than the source allows."
          />
          {capabilities.includes("browse") && capabilities.includes("scope") && (
            <Chooser
              included={included}
              onChange={setIncluded}
              readBody={() => {
                const form = frame.current?.querySelector("form") ?? undefined;
                return form?.reportValidity() === true ? bodyOf(new FormData(form)) : undefined;
              }}
            />
          )}
          {others.length > 0 && (
            <details>
              <summary className="text-accent w-fit">More settings</summary>
              <div className="mt-3 space-y-4">
                {others.map((field) => (
                  <SchemaField field={field} key={field.key} />
                ))}
              </div>
            </details>
          )}
        </Form>
      </div>
    </Section>
  );
}

/** What must be read before going on: a key that is shown once, and what the source said. */
function Told({ made: { connector, key, warnings = [] } }: { made: Made }) {
  return (
    <Section title={`${connector.name} is connected`}>
      <div className="max-w-xl space-y-4">
        {warnings.map((warning) => (
          <Notice key={warning} tone="warn">
            {warning}
          </Notice>
        ))}
        {key !== undefined && (
          <>
            <p>This is the connector's key. Copy it now: it is shown only once.</p>
            <CopyField label="Key" showsLabel value={key} />
          </>
        )}
        <Link className={buttonClass("primary")} to={`/workspace/connectors/${connector.id}`}>
          Go to the connector
        </Link>
      </div>
    </Section>
  );
}
