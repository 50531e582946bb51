import type { ReactNode } from "react";
import type { Problem } from "#server/web/app/data/problem.ts";
import { Icon, type IconName } from "./icon.tsx";

type Tone = "info" | "ok" | "warn" | "danger";

const TONES: Readonly<Record<Tone, string>> = {
  info: "bg-sunken text-ink",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  danger: "bg-danger-soft text-danger",
};

const ICONS: Readonly<Record<Tone, IconName>> = { info: "list", ok: "check", warn: "warning", danger: "warning" };

/** One or two highlighted sentences. Screen readers announce failures at once. */
export function Notice({
  tone = "info",
  children,
  className = "",
  onClose,
}: {
  tone?: Tone;
  children: ReactNode;
  className?: string;
  onClose?: () => void;
}) {
  return (
    <div
      className={`flex gap-2 rounded-md px-3 py-2 ${TONES[tone]} ${className}`}
      role={tone === "danger" ? "alert" : undefined}
    >
      {tone !== "info" && (
        <span className="pt-0.5">
          <Icon name={ICONS[tone]} />
        </span>
      )}
      <div className="min-w-0 flex-1 wrap-anywhere">{children}</div>
      {onClose && (
        <button aria-label="Close this notice" className="shrink-0 self-start" onClick={onClose} type="button">
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}

interface ProblemNoticeProps {
  problem: Problem | undefined;
  className?: string;
}

/** The failure, what to do next and, for a server error, the request id to give to an administrator. */
export function ProblemNotice({ problem, className = "" }: ProblemNoticeProps) {
  if (problem === undefined) return null;
  return (
    <Notice className={className} tone="danger">
      <p>{problem.message}</p>
      {problem.hint && <p className="mt-1">{problem.hint}</p>}
      {problem.status >= 500 && problem.requestId !== undefined && (
        <p className="mt-1 font-mono text-xs">Request ID: {problem.requestId}</p>
      )}
    </Notice>
  );
}
