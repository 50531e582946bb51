import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Connector } from "#api/connector-records.ts";
import type { PeopleSummary, SourceUser } from "#api/people.ts";
import { describeLink, nameOfSourceUser } from "#api/people-words.ts";
import { count, plural } from "#api/plural.ts";
import type { Member } from "#api/workspace.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { peopleQuery, sourcesQuery } from "#server/web/app/data/connectors.ts";
import { everybodyQuery } from "#server/web/app/data/queries.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Dialog } from "#server/web/app/ui/dialog.tsx";
import { Form, SelectField, text } from "#server/web/app/ui/form.tsx";
import { ACTS, Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** Users of a connector's source who aren't linked to a member, and a way to link them; nothing if it named none. */
export function People({ connector }: { connector: Pick<Connector, "id" | "allowed" | "providerId"> }) {
  const { id: connectorId, allowed } = connector;
  const [showsAll, setShowsAll] = useState(false);
  const [linking, setLinking] = useState<SourceUser>();
  const query = useInfiniteQuery(peopleQuery(connectorId, showsAll));
  const summary = query.data?.pages[0]?.summary;
  // Where readers are chosen in kb, there are groups of them, but the source names no users.
  const isEmpty = summary?.users === 0 && summary.lastSync?.problem === null;
  if (summary === undefined || summary.lastSync === null || isEmpty) return null;
  const canLink = allowed.includes("link_people") && summary.canLink;
  return (
    <Section title="People at the source">
      <Facts summary={summary} />
      <LoadedPages query={query} rowsOf={({ people }) => people}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon="people" title={showsAll ? "The source hasn't named anyone yet" : "Everyone is linked"} />
          ) : (
            <Table
              columns={columns(canLink ? setLinking : undefined)}
              keyOf={({ principal }) => principal}
              label="People at the source"
              rows={rows}
            />
          )
        }
      </LoadedPages>
      <div className="pt-3">
        <Button kind="quiet" onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? "Show only unlinked people" : "Show everyone"}
        </Button>
      </div>
      <Dialog
        isOpen={linking !== undefined}
        onClose={() => setLinking(undefined)}
        title={`Link ${linking === undefined ? "" : nameOfSourceUser(linking)}`}
      >
        {linking !== undefined && (
          <LinkForm connector={connector} onDone={() => setLinking(undefined)} person={linking} />
        )}
      </Dialog>
    </Section>
  );
}

function Facts({ summary }: { summary: PeopleSummary }) {
  const { users, linked, groups, oldestGroupAt, canLink, lastSync } = summary;
  return (
    <div className="text-muted mb-3 space-y-1">
      <p>
        {count(linked)} of {plural(users, "user")} linked to a member.
        {oldestGroupAt !== null && (
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

/** A link to the person's own account at the connector's source, and back; nothing if it has no accounts. */
export function OwnAccountLink({ connector: { id, providerId } }: { connector: Pick<Connector, "id" | "providerId"> }) {
  const source = useQuery(sourcesQuery).data?.sources.find((one) => one.providerId === providerId);
  if (source?.authTypes.includes("account") !== true) return null;
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

function LinkForm({
  connector,
  person,
  onDone,
}: {
  connector: Pick<Connector, "id" | "providerId">;
  person: SourceUser;
  onDone(): void;
}) {
  const client = useQueryClient();
  const { user } = useSession();
  const everybody: readonly Member[] = useQuery(everybodyQuery).data?.members ?? [];

  async function save(fields: FormData): Promise<void> {
    const chosen = text(fields, "userId");
    const links = [{ principal: person.principal, userId: chosen === "" ? null : chosen }];
    await take(api.PUT("/api/connectors/{id}/people", { params: { path: { id: connector.id } }, body: { links } }));
    await client.invalidateQueries({ queryKey: ["connectors", "people"] });
    toast(chosen === "" ? `${nameOfSourceUser(person)} unlinked` : `${nameOfSourceUser(person)} linked`);
    onDone();
  }

  // No one links themselves: another admin or an owner does.
  const others = everybody.filter(({ userId }) => userId !== user.id);
  return (
    <Form onSubmit={save} submit="Save">
      <p className="text-muted">
        Is this you? You can't link yourself, but an account with your token at the source does.{" "}
        <OwnAccountLink connector={connector} />
      </p>
      <SelectField
        choices={[
          { value: "", label: "Nobody" },
          ...others.map(({ userId, name, email }) => ({ value: userId, label: `${name} (${email})` })),
        ]}
        defaultValue={person.member?.id ?? ""}
        hint="They can read everything that this person can read at the source."
        label="Member"
        name="userId"
      />
    </Form>
  );
}

function columns(onLink: ((person: SourceUser) => void) | undefined): Column<SourceUser>[] {
  return [
    {
      title: "Person",
      isHeadless: true,
      cell: (person) => (
        <>
          <span className="block">{nameOfSourceUser(person)}</span>
          <span className="text-muted block text-xs break-all">{person.email ?? person.principal}</span>
        </>
      ),
    },
    { title: "Member", cell: describeLink },
    ...(onLink === undefined
      ? []
      : [
          {
            title: ACTS,
            isHeadless: true,
            cell: (person: SourceUser) => (
              <Button aria-label={`Link ${nameOfSourceUser(person)}`} kind="quiet" onClick={() => onLink(person)}>
                {person.member === null ? "Link" : "Change"}
              </Button>
            ),
          },
        ]),
  ];
}
