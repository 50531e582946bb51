import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { DataOf } from "#api/client.ts";
import { defaultConnectorName, distinctName } from "#api/connector-name.ts";
import type { BrowseBody, Connector, SourceKind } from "#api/connector-records.ts";
import { readersWords } from "#server/web/app/data/connector-words.ts";
import { addressParameter } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { sourcesQuery } from "#server/web/app/data/connectors.ts";
import { accountsQuery } from "#server/web/app/data/queries.ts";
import { myConnectionsQuery } from "#server/web/app/data/servers.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { NothingHere } from "#server/web/app/shell/nothing-here.tsx";
import { Breadcrumb, PageHeading } from "#server/web/app/shell/page.tsx";
import { Section } from "#server/web/app/ui/bits.tsx";
import { buttonClass } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Form, NameField, SelectField, text } from "#server/web/app/ui/form.tsx";
import type { Choice } from "#server/web/app/ui/picker.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { AccessField, accessOf, PRIVATE } from "../access-field.tsx";
import { Chooser, titlesOf } from "../chooser.tsx";
import { SchemaField, SchemaFields } from "../schema-field.tsx";
import { fieldsIn, secretsOf, valuesOf } from "../schema-fields.ts";

type CreatedConnector = DataOf<"post", "/api/connectors">;

interface Made {
  connector: Connector;
  key: string;
}

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** The warnings that the source returned when its connector was created. */
    warnings?: readonly string[];
  }
}

/** Connects a source: its settings and secrets from its schema, what to index, and who may see it. */
export function Page() {
  const { providerId = "" } = useParams({ strict: false });
  return (
    <Loaded query={useQuery(sourcesQuery)}>
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
      <Breadcrumb>
        <Link to="/workspace/connectors">Connectors</Link> / <Link to="/workspace/connectors/new">Add</Link>
      </Breadcrumb>
      <PageHeading title={`New connector: ${source.name}`}>{readersWords(source)}</PageHeading>
      {made === undefined ? <Settings onMade={setMade} source={source} /> : <Created made={made} />}
    </>
  );
}

function Settings({ source, onMade }: { source: SourceKind; onMade(made: Made): void }) {
  const { providerId, authTypes, configSchema, capabilities, acl, isForOwner = false } = source;
  const navigate = useNavigate();
  const [included, setIncluded] = useState<readonly string[]>([]);
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map());
  const frame = useRef<HTMLDivElement>(null);
  const [accountId, setAccountId] = useState<string>();
  const takesAccount = authTypes.includes("account");
  const mine = useQuery({ ...accountsQuery, enabled: takesAccount }).data;
  const accounts = (mine?.accounts ?? []).filter((one) => one.providerId === providerId && one.state === "active");
  const account = accountId ?? accounts[0]?.id ?? "";
  // The account determines the address of its service.
  const settings = fieldsIn(configSchema, "config").filter(({ isOfAccount }) => account === "" || !isOfAccount);
  const instance =
    accounts.find(({ id }) => id === account)?.baseUrl ??
    mine?.providers.find((provider) => provider.providerId === providerId)?.baseUrl;
  const takesConnection = authTypes.includes("connection");
  const connections = useQuery({ ...myConnectionsQuery, enabled: takesConnection }).data;
  const [connectionId, setConnectionId] = useState(addressParameter("connection"));
  // A link may name a connection that no longer exists.
  const chosen = connections?.find(({ id }) => id === connectionId) ?? connections?.[0];
  const connection = chosen?.id ?? "";
  const secrets = secretsOf(source);

  const bodyOf = (form: FormData): BrowseBody => {
    const credentials = valuesOf(secrets, form) as Record<string, string>; // secrets are texts
    const hasSecrets = Object.keys(credentials).length > 0;
    const signIn = account === "" ? hasSecrets && { credentials } : { accountId: account };
    const through = connection !== "" && { connectionId: connection };
    return { providerId, config: valuesOf(settings, form), ...signIn, ...through };
  };

  async function create(form: FormData): Promise<CreatedConnector> {
    const access = isForOwner ? PRIVATE : accessOf(form);
    const scope =
      included.length === 0
        ? {}
        : { scope: { include: [...included], exclude: [], titles: titlesOf(included, titles) } };
    const { config, ...rest } = bodyOf(form);
    const [place] = included;
    // If there is only one choice, its name describes the content best.
    const alone = included.length === 1 && place !== undefined ? titles.get(place) : undefined;
    const plain = chosen?.label ?? alone ?? defaultConnectorName(source, config);
    const name = text(form, "name") || (await freeName(plain));
    return api.post("/api/connectors", { body: { ...rest, config, name, access, ...scope } });
  }

  function goOn({ connector, key, warnings }: CreatedConnector): unknown {
    if (key !== undefined) return onMade({ connector, key });
    return navigate({ to: `/workspace/connectors/${connector.id}`, ...(warnings && { state: { warnings } }) });
  }

  const required = settings.filter(({ isRequired }) => isRequired);
  const others = settings.filter(({ isRequired }) => !isRequired);
  return (
    <Section title="Settings">
      <div className="max-w-xl" ref={frame}>
        <Form
          invalidates={["connectors"]}
          onDone={goOn}
          onSubmit={create}
          secondary={
            <Link className="text-accent underline" to="/workspace/connectors/new">
              Cancel
            </Link>
          }
          submit="Connect"
          toast={({ connector }) => `${connector.name} connected`}
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
                ...accounts.map(({ id, label }): Choice => [id, label]),
                ...(secrets.length === 0 ? [] : [["", "Other credentials"] as const]),
              ]}
              label="Account"
              name="accountId"
              onChoose={setAccountId}
              value={account}
            />
          )}
          {takesConnection && connections && connections.length > 0 && (
            <SelectField
              choices={connections.map(({ id, label }): Choice => [id, label])}
              hint="kb reads what you see there."
              label="Connection"
              name="connectionId"
              onChoose={setConnectionId}
              value={connection}
            />
          )}
          {takesConnection && connections?.length === 0 && (
            <Notice>
              <Link className="text-accent underline" to="/workspace/servers">
                Connect a provider server
              </Link>{" "}
              first: the connector reads through your connection.
            </Notice>
          )}
          {takesAccount && accounts.length === 0 && (
            <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
              <Link
                className={buttonClass()}
                search={{ connect: providerId, returnTo: `/workspace/connectors/new/${providerId}` }}
                to="/settings/accounts"
              >
                Connect your account
              </Link>
              {secrets.length > 0 && <span className="text-muted">or enter credentials:</span>}
            </div>
          )}
          {account === "" && <SchemaFields fields={secrets} />}
          <NameField hint="Without one, kb names it after what it indexes." isOptional maxLength={80} />
          {!isForOwner && (
            <AccessField
              // People who may see the connection are expected to see what is read through it.
              access={chosen?.access ?? (acl === "connector" ? PRIVATE : { ...PRIVATE, visibility: "source" })}
              acl={acl}
              hint={accessHint(source, takesConnection)}
              key={connection}
            />
          )}
          {capabilities.includes("browse") && capabilities.includes("scope") && (
            <Chooser
              included={included}
              onChange={setIncluded}
              onLearn={setTitles}
              titles={titles}
              readTarget={() => {
                const form = frame.current?.querySelector("form") ?? undefined;
                return form?.reportValidity() ? { settings: bodyOf(new FormData(form)) } : undefined;
              }}
            />
          )}
          {others.length > 0 && (
            <details>
              <summary className="text-accent w-fit">More settings</summary>
              <div className="mt-3 space-y-4">
                <SchemaFields fields={others} />
              </div>
            </details>
          )}
        </Form>
      </div>
    </Section>
  );
}

/** Returns a name that no connector visible to the person uses. */
async function freeName(name: string): Promise<string> {
  const { connectors } = await api.get("/api/connectors", { params: { query: { limit: 200 } } });
  return distinctName(
    name,
    connectors.map((connector) => connector.name),
  );
}

function accessHint({ acl, name }: SourceKind, takesConnection: boolean): string {
  if (takesConnection) return "You can change this later. Only people who can also see the connection see it.";
  return acl === "connector"
    ? `You can change this later. kb doesn't know who can read what in ${name}.`
    : "You can change this later. No one sees more than the source allows.";
}

/** Text to read before continuing, with a key that is shown only once. */
function Created({ made: { connector, key } }: { made: Made }) {
  return (
    <Section title={`${connector.name} is connected`}>
      <div className="max-w-xl space-y-4">
        <p>This is the connector's key. Copy it now: it is shown only once.</p>
        <CopyField label="Key" showsLabel value={key} />
        <Link className={buttonClass("primary")} to={`/workspace/connectors/${connector.id}`}>
          Go to the connector
        </Link>
      </div>
    </Section>
  );
}
