import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Connector, SourceKind } from "#api/connector-records.ts";
import { visibilitiesFor, VISIBILITY_WORDS } from "#server/web/app/data/connector-words.ts";
import { everybodyQuery, groupsQuery } from "#server/web/app/data/queries.ts";
import { Loaded, LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { CheckboxField, Fieldset, SelectField, text } from "#server/web/app/ui/form.tsx";

type Access = Connector["access"];

export interface AccessFieldProps {
  /** How precisely the source reports who can read an item; undefined while that is unknown. */
  acl: SourceKind["acl"] | undefined;
  access: Access;
  hint: string;
  /** True = access can only be narrowed. */
  isNarrowing?: boolean;
}

/** Chooses who may see a connector's items and, for "members", which members. */
export function AccessField({ acl, access, hint, isNarrowing = false }: AccessFieldProps) {
  const [visibility, setVisibility] = useState(access.visibility);
  return (
    <>
      <SelectField
        choices={visibilitiesFor(access.visibility, acl, { isNarrowing }).map((value) => [
          value,
          VISIBILITY_WORDS[value],
        ])}
        defaultValue={access.visibility}
        hint={hint}
        label="Who can see it"
        name="access.visibility"
        onChoose={(value) => setVisibility(value as Access["visibility"])} // a choice above
      />
      {visibility === "members" && (
        <Chosen access={access} isNarrowing={isNarrowing && access.visibility === "members"} />
      )}
    </>
  );
}

/** Returns the field's value in the form that the API expects. */
export function accessOf(form: FormData): Access {
  const visibility = text(form, "access.visibility") as Access["visibility"]; // a choice above
  if (visibility !== "members") return { ...PRIVATE, visibility };
  return { visibility, memberIds: idsIn(form, "access.memberIds"), groupIds: idsIn(form, "access.groupIds") };
}

function idsIn(form: FormData, name: string): string[] {
  return form.getAll(name).filter((value) => typeof value === "string");
}

/** The access that makes a connector visible only to its owner. */
export const PRIVATE = { visibility: "private" as const, memberIds: [], groupIds: [] };

/** With `isNarrowing`, only people who are chosen already can be selected. */
function Chosen({ access, isNarrowing }: { access: Access; isNarrowing: boolean }) {
  const groups = useInfiniteQuery(groupsQuery);
  return (
    <div className="border-line space-y-4 rounded-md border px-3 py-2">
      <Fieldset className="max-h-60 overflow-y-auto" legend="Members">
        <Loaded query={useQuery(everybodyQuery)}>
          {({ members, nextCursor }) => (
            <>
              <Choices
                chosen={access.memberIds}
                choices={members
                  .filter(({ userId }) => !isNarrowing || access.memberIds.includes(userId))
                  .map(({ userId, name, email }) => ({ id: userId, label: name, hint: email }))}
                name="access.memberIds"
              />
              {nextCursor && (
                <p className="text-muted text-xs">
                  These are the first {members.length}. For others, use a group, or kb connectors update --member.
                </p>
              )}
            </>
          )}
        </Loaded>
      </Fieldset>
      <Fieldset className="max-h-60 overflow-y-auto" legend="Groups">
        <LoadedPages query={groups}>
          {(rows) =>
            rows.length === 0 ? (
              <p className="text-muted text-xs">There are no groups yet.</p>
            ) : (
              <Choices
                chosen={access.groupIds}
                choices={rows
                  .filter(({ id }) => !isNarrowing || access.groupIds.includes(id))
                  .map(({ id, name }) => ({ id, label: name }))}
                name="access.groupIds"
              />
            )
          }
        </LoadedPages>
      </Fieldset>
    </div>
  );
}

interface ChoicesProps {
  name: string;
  chosen: readonly string[];
  choices: readonly { id: string; label: string; hint?: string }[];
}

/** Checkboxes for the choices. A chosen value that isn't displayed stays chosen. */
function Choices({ name, chosen, choices }: ChoicesProps) {
  const shown = new Set(choices.map(({ id }) => id));
  return (
    <>
      {choices.map(({ id, label, hint }) => (
        <CheckboxField defaultChecked={chosen.includes(id)} hint={hint} key={id} label={label} name={name} value={id} />
      ))}
      {chosen
        .filter((id) => !shown.has(id))
        .map((id) => (
          <input key={id} name={name} type="hidden" value={id} />
        ))}
    </>
  );
}
