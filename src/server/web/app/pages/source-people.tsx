import { useQuery } from "@tanstack/react-query";
import type { BodyOf } from "#api/client.ts";
import type { Instance } from "#api/workspace.ts";
import { api } from "#server/web/app/data/client.ts";
import { workspaceQuery } from "#server/web/app/data/queries.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { ConfirmDialog, DialogButton } from "#server/web/app/ui/dialog.tsx";
import { Form, text, TextField } from "#server/web/app/ui/form.tsx";
import { actsColumn, Table, type Column } from "#server/web/app/ui/table.tsx";

/**
 * Settings: how long permissions are trusted, which instances identify members, and which domains' email addresses do.
 */
export function SourcePeople() {
  const query = useQuery(workspaceQuery);
  return (
    <>
      <Section title="Registered instances">
        <p className="text-muted mb-3">
          Users of these instances can be linked to members. Register only servers that your organization runs or
          trusts.
        </p>
        <Loaded query={query}>{({ instances }) => <Instances instances={instances} />}</Loaded>
      </Section>
      <Section title="Permissions of sources">
        <Loaded query={query}>{({ maxAclAgeHours }) => <MaxAclAge hours={maxAclAgeHours} />}</Loaded>
      </Section>
      <Section title="Identity domains">
        <p className="text-muted mb-3">
          A member whose verified email address is in one of these domains is linked to the source user with the same
          verified address.
        </p>
        <Loaded query={query}>{({ identityDomains }) => <Domains domains={identityDomains} />}</Loaded>
      </Section>
    </>
  );
}

/** Sends changed settings of the workspace. */
function change(body: BodyOf<"patch", "/api/workspace">) {
  return api.patch("/api/workspace", { body });
}

function Instances({ instances }: { instances: readonly Instance[] }) {
  const own = instances
    .filter(({ setBy }) => setBy === "workspace")
    .map(({ providerId, baseUrl }) => ({ providerId, baseUrl }));
  return (
    <div className="space-y-4">
      {instances.length > 0 && (
        <Table
          columns={instanceColumns(own)}
          keyOf={({ providerId, baseUrl }) => `${providerId} ${baseUrl}`}
          label="Registered instances"
          rows={instances}
        />
      )}
      <Form
        invalidates={["workspace"]}
        onSubmit={(fields) =>
          change({
            instances: [...own, { providerId: text(fields, "providerId"), baseUrl: text(fields, "baseUrl") }],
          })
        }
        resets
        submit="Register"
        submitKind="plain"
        toast="Instance registered"
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField label="Source" name="providerId" placeholder="gitea" />
          <TextField label="Base URL" name="baseUrl" placeholder="https://git.acme.test" type="url" />
        </div>
      </Form>
    </div>
  );
}

function MaxAclAge({ hours }: { hours: number }) {
  return (
    <Form
      invalidates={["workspace"]}
      key={hours}
      onSubmit={(fields) => change({ maxAclAgeHours: Number(text(fields, "maxAclAgeHours")) })}
      submit="Save"
      submitKind="plain"
      toast="Settings saved"
    >
      <TextField
        defaultValue={hours}
        hint="How long kb relies on the permissions it last read from a source, from 1 to 720. An item that isn't checked in time is hidden until it is."
        label="Maximum age, in hours"
        max={720}
        min={1}
        name="maxAclAgeHours"
        type="number"
      />
    </Form>
  );
}

function Domains({ domains }: { domains: readonly string[] }) {
  const { role } = useSession();
  return (
    <div className="space-y-4">
      {domains.length > 0 && (
        <Table
          columns={domainColumns(domains, role === "owner")}
          keyOf="domain"
          label="Identity domains"
          rows={domains.map((domain) => ({ domain }))}
        />
      )}
      {role === "owner" ? (
        <Form
          invalidates={["workspace"]}
          onSubmit={(fields) => change({ identityDomains: [...domains, text(fields, "identityDomains")] })}
          resets
          submit="Add domain"
          submitKind="plain"
          toast="Domain added"
        >
          <TextField label="Domain" name="identityDomains" placeholder="acme.test" />
        </Form>
      ) : (
        <p className="text-muted">Only an owner can change these.</p>
      )}
    </div>
  );
}

type Registered = Pick<Instance, "providerId" | "baseUrl">;

function instanceColumns(own: readonly Registered[]): Column<Instance>[] {
  return [
    { title: "Source", cell: ({ providerId }) => providerId },
    { title: "Base URL", cell: ({ baseUrl }) => <span className="break-all">{baseUrl}</span> },
    actsColumn(({ providerId, baseUrl, setBy }) => {
      if (setBy === "operator") return <span className="text-muted">Set by the operator</span>;
      const rest = own.filter((each) => each.providerId !== providerId || each.baseUrl !== baseUrl);
      return (
        <Remove name={baseUrl} rest={{ instances: rest }} toast="Instance removed">
          Its users are no longer linked to members. Members lose what they can read only as one of its users.
        </Remove>
      );
    }),
  ];
}

function domainColumns(domains: readonly string[], canEdit: boolean): Column<{ domain: string }>[] {
  return [
    { title: "Domain", cell: ({ domain }) => domain },
    actsColumn(
      ({ domain }) =>
        canEdit && (
          <Remove
            name={domain}
            rest={{ identityDomains: domains.filter((each) => each !== domain) }}
            toast="Domain removed"
          >
            No one else is linked by an address in this domain. Members who are linked already stay linked.
          </Remove>
        ),
    ),
  ];
}

interface RemoveProps {
  name: string;
  /** The settings without the removed entry. */
  rest: Parameters<typeof change>[0];
  toast: string;
  /** The effects. */
  children: string;
}

function Remove({ name, rest, toast, children }: RemoveProps) {
  return (
    <DialogButton
      aria-label={`Remove ${name}`}
      dialog={
        <ConfirmDialog
          act="Remove"
          invalidates={["workspace"]}
          onConfirm={() => change(rest)}
          title={`Remove ${name}?`}
          toast={toast}
        >
          {children}
        </ConfirmDialog>
      }
      kind="quiet"
    >
      Remove
    </DialogButton>
  );
}
