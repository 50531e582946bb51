import type { ServerTest } from "#api/provider-servers.ts";
import { adviceOn, calledItself, offerWords, STEP_WORDS } from "#server/web/app/server-words.ts";
import { Icon } from "#server/web/app/ui/icon.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";

/** What a test tried, in order, where it failed and what to do then, and what it found. */
export function TestSteps({ test }: { test: ServerTest }) {
  const failed = test.steps.find(({ ok }) => !ok)?.problem;
  return (
    <div className="space-y-3">
      <ol aria-label="Steps of the test" className="border-line divide-line divide-y rounded-md border">
        {test.steps.map(({ step, ok, ms, problem }) => (
          <li className="flex items-start gap-2.5 px-3 py-2" key={step}>
            <span className={`pt-0.5 ${ok ? "text-ok" : "text-danger"}`}>
              <Icon name={ok ? "check" : "warning"} />
            </span>
            <span className="min-w-0 flex-1 wrap-anywhere">
              {STEP_WORDS[step]}
              <span className="sr-only">{ok ? ": worked" : ": failed"}</span>
              {problem !== undefined && <span className="text-danger block">{problem.message}</span>}
            </span>
            <span className="text-muted shrink-0 tabular-nums">{ms.toLocaleString("en-GB")} ms</span>
          </li>
        ))}
      </ol>
      {failed !== undefined && <Notice tone="warn">{adviceOn(failed.code)}</Notice>}
      <Found test={test} />
    </div>
  );
}

function Found({ test: { ok, serverInfo, protocolVersion, capabilities, authRequired } }: { test: ServerTest }) {
  const name = calledItself(serverInfo);
  const facts = [
    ...(name === undefined ? [] : [name]),
    ...(protocolVersion === undefined ? [] : [`MCP ${protocolVersion}`]),
    ...[offerWords(capabilities)?.toLowerCase() ?? []].flat(),
  ];
  const where = authRequired?.authorizationServers ?? [];
  if (ok && authRequired !== undefined) {
    return (
      <Notice tone="ok">
        The server answers, and asks each person to sign in{where.length > 0 && ` at ${where.map(hostOf).join(", ")}`}.
      </Notice>
    );
  }
  return facts.length > 0 && <Notice tone={ok ? "ok" : "info"}>Found {facts.join(", ")}.</Notice>;
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
