import type { Scope } from "#api/common.ts";
import { SCOPE_WORDS } from "#server/web/app/shell/scope-words.ts";
import { Badge } from "#server/web/app/ui/bits.tsx";
import type { Column } from "#server/web/app/ui/table.tsx";

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
