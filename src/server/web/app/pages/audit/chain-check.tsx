import { useMutation } from "@tanstack/react-query";
import { api } from "#server/web/app/data/client.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";

/** Lets the server verify the chain, and shows the last hash, which people should keep. */
export function ChainCheck() {
  const check = useMutation({ mutationFn: () => api.get("/api/audit/check") });
  const { data, error } = check;
  return (
    <Section
      action={
        <Button isBusy={check.isPending} onClick={() => check.mutate()}>
          Check chain
        </Button>
      }
      description="Each row contains the hash of the row before it. Check that no one changed or removed a row."
      title="Chain"
    >
      <div aria-live="polite">
        {error !== null && <ProblemNotice problem={toProblem(error)} />}
        {data?.isIntact && (
          <div className="space-y-3">
            <Notice tone="ok">The chain is intact. Each of the {data.entries} rows matches the row before it.</Notice>
            {data.lastHash && (
              <div className="space-y-1">
                <CopyField label="Last hash" showsLabel value={data.lastHash} />
                <p className="text-muted text-xs">
                  Store this hash somewhere else. You can use it later to detect missing rows at the end.
                </p>
              </div>
            )}
          </div>
        )}
        {data?.isIntact === false && (
          <Notice tone="danger">The chain is broken. Row {data.brokenAt} doesn't match the row before it.</Notice>
        )}
      </div>
    </Section>
  );
}
