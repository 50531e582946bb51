import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Connector } from "#api/connector-records.ts";
import type { PeopleSummary, SourceUser } from "#api/people.ts";
import { describeLink, nameOfSourceUser } from "#api/people-words.ts";
import { count, plural } from "#api/plural.ts";
import { api } from "#server/web/app/data/client.ts";
import { peopleQuery, useSource } from "#server/web/app/data/connectors.ts";
import { useEverybody } from "#server/web/app/data/queries.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { DialogButton } from "#server/web/app/ui/dialog.tsx";
import { FormDialog } from "#server/web/app/ui/form-dialog.tsx";
import { SelectField, text } from "#server/web/app/ui/form.tsx";
import { actsColumn, Table, type Column, headColumn } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

type PeoplesConnector = Pick<Connector, "id" | "allowed" | "providerId">;

/**
 * Users of a connector's source who aren't linked to a member, and a way to link them. Shows nothing if the source
 * named no users.
 */
export function People({ connector }: { connector: PeoplesConnector }) {
  const [showsAll, setShowsAll] = useState(false);
  const query = useInfiniteQuery(peopleQuery(connector.id, showsAll));
  const summary = query.data?.summary;
  // If readers are chosen in kb, there are groups for them, but the source names no users.
  const isEmpty = summary?.users === 0 && summary.lastSync?.problem === null;
  if (summary === undefined || summary.lastSync === null || isEmpty) return null;
  const canLink = connector.allowed.includes("link_people") && summary.canLink;
  return (
    <Section title="People at the source">
      <Summary summary={summary} />
      <LoadedPages query={query}>
        {({ people }) =>
          people.length === 0 ? (
            <EmptyState icon="people" title={showsAll ? "The source hasn't named anyone yet" : "Everyone is linked"} />
          ) : (
            <Table
              columns={canLink ? [...COLUMNS, linkColumn(connector)] : COLUMNS}
              keyOf="principal"
              label="People at the source"
              rows={people}
            />
          )
        }
      </LoadedPages>
      <div className="pt-3">
        <Button kind="quiet" onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? "Show only unlinked people" : "Show everyone"}
        </Button>
      </div>
    </Section>
  );
}

function Summary({ summary }: { summary: PeopleSummary }) {
  const { users, linked, groups, oldestGroupAt, canLink, lastSync } = summary;
  return (
    <div className="text-muted mb-3 space-y-1">
      <p>
        {count(linked)} of {plural(users, "user")} linked to a member.
        {oldestGroupAt && (
          <>
            {" "}
            Who is in the {plural(groups, "group")} was read <Time at={oldestGroupAt} />.
          </>
        )}
      </p>
      {lastSync?.problem && <p>{lastSync.problem.message}</p>}
      {!canLink && (
        <p>
          People can be linked only if an admin created the connector and its instance is registered in the general
          settings.
        </p>
      )}
    </div>
  );
}

/**
 * A link to the person's own account at the connector's source, and back. Shows nothing if the source has no accounts.
 */
export function OwnAccountLink({ connector: { id, providerId } }: { connector: Pick<Connector, "id" | "providerId"> }) {
  const source = useSource(providerId);
  if (!source?.authTypes.includes("account")) return null;
  return (
    <Link
      className="text-accent underline"
      search={{ connect: providerId, returnTo: `/workspace/connectors/${id}` }}
      to="/settings/accounts"
    >
      Connect your own account
    </Link>
  );
}

const COLUMNS: readonly Column<SourceUser>[] = [
  headColumn("Person", (person) => (
    <>
      <span className="block">{nameOfSourceUser(person)}</span>
      <span className="text-muted block text-xs break-all">{person.email ?? person.principal}</span>
    </>
  )),
  { title: "Member", cell: describeLink },
];

function linkColumn(connector: PeoplesConnector): Column<SourceUser> {
  return actsColumn((person) => (
    <DialogButton
      aria-label={`Link ${nameOfSourceUser(person)}`}
      dialog={<LinkDialog connector={connector} person={person} />}
      kind="quiet"
    >
      {person.member === null ? "Link" : "Change"}
    </DialogButton>
  ));
}

interface LinkDialogProps {
  connector: PeoplesConnector;
  person: SourceUser;
}

function LinkDialog({ connector, person }: LinkDialogProps) {
  const { user } = useSession();
  // People can't link themselves, so another admin or an owner must do it.
  const others = useEverybody().filter(({ userId }) => userId !== user.id);
  const name = nameOfSourceUser(person);

  async function save(fields: FormData): Promise<string> {
    const userId = text(fields, "userId") || null;
    const links = [{ principal: person.principal, userId }];
    await api.put("/api/connectors/{id}/people", { params: { path: { id: connector.id } }, body: { links } });
    return userId === null ? `${name} unlinked` : `${name} linked`;
  }

  return (
    <FormDialog
      invalidates={["connectors"]}
      onSubmit={save}
      submit="Save"
      title={`Link ${name}`}
      toast={(words) => words}
    >
      <p className="text-muted">
        Is this you? You can't link yourself. Connect your own account at the source with a token instead.{" "}
        <OwnAccountLink connector={connector} />
      </p>
      <SelectField
        choices={[["", "Nobody"], ...others.map(({ userId, name, email }) => [userId, `${name} (${email})`] as const)]}
        defaultValue={person.member?.id ?? ""}
        hint="They can read everything that this person can read at the source."
        label="Member"
        name="userId"
      />
    </FormDialog>
  );
}
