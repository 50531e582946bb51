import { auditRoutes } from "#api/audit.ts";
import type { Mount } from "#server/http/mount.ts";
import type { AuditService } from "./service.ts";

/** Mounts `/api/audit`. */
export function mountAudit(at: Mount, { audit }: { audit: AuditService }): void {
  const { export: exported, ...others } = auditRoutes;
  at.members(others, audit);
  at.member(exported, async ({ actor, query }) =>
    answerLines(await audit.export(actor, query.since === undefined ? undefined : Date.parse(query.since))),
  );
}

/**
 * Streams lines with backpressure: more lines are read once these are consumed, and none after the client disconnects.
 */
function answerLines(lines: AsyncGenerator<string, void>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await lines.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await lines.return();
    },
  });
  return new Response(body, {
    headers: {
      "Content-Type": "application/x-ndjson",
      "Content-Disposition": 'attachment; filename="kb-audit.ndjson"',
    },
  });
}
