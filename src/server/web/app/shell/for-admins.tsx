import type { ReactNode } from "react";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { isAdmin } from "./nav.ts";
import { PageHeading } from "./page.tsx";
import { useSession } from "./session.ts";

/** A page for owners and admins. The server decides; this only says so before a request is made. */
export function ForAdmins({ title, children }: { title: string; children: ReactNode }) {
  const { role } = useSession();
  if (isAdmin(role)) return children;
  return (
    <>
      <PageHeading title={title} />
      <Section title="Admins only">
        <EmptyState icon="people" title="Only admins can see this page">
          Ask an admin. To find one, go to Members.
        </EmptyState>
      </Section>
    </>
  );
}
