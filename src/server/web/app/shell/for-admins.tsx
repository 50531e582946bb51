import type { ReactNode } from "react";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { PageFrame } from "./page.tsx";
import { useIsAdmin } from "./session.ts";

/**
 * Makes a page for owners and admins. The server enforces the access. The page only saves others a request that would
 * be refused.
 */
export function forAdmins(title: string, Content: () => ReactNode) {
  return function Page() {
    return useIsAdmin() ? <Content /> : <AdminsOnly title={title} />;
  };
}

function AdminsOnly({ title }: { title: string }) {
  return (
    <PageFrame title={title}>
      <Section title="Admins only">
        <EmptyState icon="people" title="Only admins can see this page">
          Ask an admin. The Members page lists the admins.
        </EmptyState>
      </Section>
    </PageFrame>
  );
}
