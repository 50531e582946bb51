import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Instance } from "#api/workspace.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { workspaceQuery } from "#server/web/app/data/queries.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog } from "#server/web/app/ui/dialog.tsx";
import { Form, text, TextField } from "#server/web/app/ui/form.tsx";
import { ACTS, Table, type Column } from "#server/web/app/ui/table.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** How long permissions are trusted, which instances determine who members are, and which domains' addresses identify them. */
export function SourcePeople() {
  const query = useQuery(workspaceQuery);
  const { role } = useSession();
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
        <Loaded query={query}>
          {({ identityDomains }) => <Domains canEdit={role === "owner"} domains={identityDomains} />}
        </Loaded>
      </Section>
    </>
  );
}

function Instances({ instances }: { instances: readonly Instance[] }) {
  const client = useQueryClient();
  const [removing, setRemoving] = useState<Instance>();
  const own = instances.filter(({ setBy }) => setBy === "workspace");

  async function save(wanted: readonly Omit<Instance, "setBy">[], said: string): Promise<void> {
    const body = { instances: wanted.map(({ providerId, baseUrl }) => ({ providerId, baseUrl })) };
    await take(api.PATCH("/api/workspace", { body }));
    await client.invalidateQueries({ queryKey: workspaceQuery.queryKey });
    toast(said);
  }

  async function add(fields: FormData): Promise<void> {
    const added = { providerId: text(fields, "providerId"), baseUrl: text(fields, "baseUrl") };
    await save([...own, added], "Instance registered");
  }

  return (
    <div className="space-y-4">
      {instances.length > 0 && (
        <Table
          columns={instanceColumns(setRemoving)}
          keyOf={({ providerId, baseUrl }) => `${providerId} ${baseUrl}`}
          label="Registered instances"
          rows={instances}
        />
      )}
      <Form onSubmit={add} resets submit="Register" submitKind="plain">
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField autoComplete="off" label="Source" name="providerId" placeholder="gitea" />
          <TextField
            autoComplete="off"
            label="Base URL"
            name="baseUrl"
            placeholder="https://git.acme.test"
            type="url"
          />
        </div>
      </Form>
      <ConfirmDialog
        act="Remove"
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        onConfirm={() =>
          save(
            own.filter((each) => each !== removing),
            "Instance removed",
          )
        }
        title={`Remove ${removing?.baseUrl ?? ""}?`}
      >
        <p>Its users are no longer linked to members. Members lose what they can read only as one of its users.</p>
      </ConfirmDialog>
    </div>
  );
}

function MaxAclAge({ hours }: { hours: number }) {
  const client = useQueryClient();

  async function save(fields: FormData): Promise<void> {
    await take(api.PATCH("/api/workspace", { body: { maxAclAgeHours: Number(text(fields, "maxAclAgeHours")) } }));
    await client.invalidateQueries({ queryKey: workspaceQuery.queryKey });
    toast("Settings saved");
  }

  return (
    <Form key={hours} onSubmit={save} submit="Save" submitKind="plain">
      <TextField
        autoComplete="off"
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

function Domains({ domains, canEdit }: { domains: readonly string[]; canEdit: boolean }) {
  const client = useQueryClient();
  const [removing, setRemoving] = useState<string>();

  async function save(identityDomains: string[], said: string): Promise<void> {
    await take(api.PATCH("/api/workspace", { body: { identityDomains } }));
    await client.invalidateQueries({ queryKey: workspaceQuery.queryKey });
    toast(said);
  }

  return (
    <div className="space-y-4">
      {domains.length > 0 && (
        <Table
          columns={domainColumns(canEdit ? setRemoving : undefined)}
          keyOf={({ domain }) => domain}
          label="Identity domains"
          rows={domains.map((domain) => ({ domain }))}
        />
      )}
      {canEdit ? (
        <Form
          onSubmit={(fields) => save([...domains, text(fields, "identityDomains")], "Domain added")}
          resets
          submit="Add domain"
          submitKind="plain"
        >
          <TextField autoComplete="off" label="Domain" name="identityDomains" placeholder="acme.test" />
        </Form>
      ) : (
        <p className="text-muted">Only an owner can change these.</p>
      )}
      <ConfirmDialog
        act="Remove"
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        onConfirm={() =>
          save(
            domains.filter((each) => each !== removing),
            "Domain removed",
          )
        }
        title={`Remove ${removing ?? ""}?`}
      >
        <p>No one else is linked by an address in this domain. Members who are linked already stay linked.</p>
      </ConfirmDialog>
    </div>
  );
}

function instanceColumns(onRemove: (instance: Instance) => void): Column<Instance>[] {
  return [
    { title: "Source", cell: ({ providerId }) => providerId },
    { title: "Base URL", cell: ({ baseUrl }) => <span className="break-all">{baseUrl}</span> },
    {
      title: ACTS,
      isHeadless: true,
      cell: (instance) =>
        instance.setBy === "operator" ? (
          <span className="text-muted">Set by the operator</span>
        ) : (
          <Button aria-label={`Remove ${instance.baseUrl}`} kind="quiet" onClick={() => onRemove(instance)}>
            Remove
          </Button>
        ),
    },
  ];
}

function domainColumns(onRemove: ((domain: string) => void) | undefined): Column<{ domain: string }>[] {
  return [
    { title: "Domain", cell: ({ domain }) => domain },
    {
      title: ACTS,
      isHeadless: true,
      cell: ({ domain }) =>
        onRemove && (
          <Button aria-label={`Remove ${domain}`} kind="quiet" onClick={() => onRemove(domain)}>
            Remove
          </Button>
        ),
    },
  ];
}
