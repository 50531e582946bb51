import type { Scope } from "#api/common.ts";
import { SCOPE_WORDS } from "#server/web/app/shell/scope-words.ts";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ACTS, type Column } from "#server/web/app/ui/table.tsx";

/** The scopes of a token or a client. */
export function scopesColumn<Row extends { scopes: readonly Scope[] }>(): Column<Row> {
  return {
    title: "Permissions",
    cell: ({ scopes }) => (
      <span className="inline-flex flex-wrap gap-1 max-@2xl:justify-end">
        {scopes.map((scope) => (
          <Badge key={scope} tone={scope === "kb:admin" ? "warn" : "plain"}>
            {SCOPE_WORDS[scope].title}
          </Badge>
        ))}
      </span>
    ),
  };
}

/** The action that removes a row, named after it for screen readers. */
export function revokeColumn<Row>(nameOf: (row: Row) => string, onRevoke: (row: Row) => void): Column<Row> {
  return {
    title: ACTS,
    isHeadless: true,
    cell: (row) => (
      <Button
        aria-label={`Revoke ${nameOf(row)}`}
        className="@2xl:-my-1.5 @2xl:-mr-2"
        kind="quiet"
        onClick={() => onRevoke(row)}
      >
        Revoke
      </Button>
    ),
  };
}
