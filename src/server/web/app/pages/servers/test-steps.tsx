import type { ServerTest } from "#api/provider-servers.ts";
import { hostOf } from "#server/web/app/data/browser.ts";
import { adviceOn, calledItself, offerWords, STEP_WORDS } from "./server-words.ts";
import { Icon } from "#server/web/app/ui/icon.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";

/** Returns the result of a test in a few words. */
export function testTitle({ ok, authRequired }: ServerTest): string {
  if (!ok) return "The test failed";
  return authRequired?.problem === undefined ? "The test passed" : "The server answers, but no one can sign in";
}

/** The steps of a test in order, where it failed, what to do then, and what it found. */
export function TestSteps({ test }: { test: ServerTest }) {
  const failed = test.steps.find(({ ok }) => !ok)?.problem;
  const where = hostsOf(test);
  const noSignIn = test.authRequired?.problem;
  const advice =
    failed && (where === "" ? adviceOn(failed.code) : `People sign in at ${where}. Choose “OAuth” as the sign-in.`);
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
              {problem && <span className="text-danger block">{problem.message}</span>}
            </span>
            <span className="text-muted shrink-0 tabular-nums">{ms.toLocaleString("en-GB")} ms</span>
          </li>
        ))}
      </ol>
      {advice && <Notice tone="warn">{advice}</Notice>}
      {noSignIn && (
        <Notice tone="warn">
          No one can connect it with OAuth. {noSignIn.message} {adviceOn(noSignIn.code)}
        </Notice>
      )}
      <Found test={test} />
      {test.authRequired?.needsClient && (
        <Notice tone="warn">
          Clients can't register themselves there. Register kb with the redirect URL that the server's settings show
          once it is added, and enter the client ID there.
        </Notice>
      )}
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
  const where = hostsOf({ authRequired });
  if (ok && authRequired !== undefined) {
    return (
      authRequired.problem === undefined && (
        <Notice tone="ok">The server answers, and asks each person to sign in{where !== "" && ` at ${where}`}.</Notice>
      )
    );
  }
  return facts.length > 0 && <Notice tone={ok ? "ok" : "info"}>Found {facts.join(", ")}.</Notice>;
}

/** Returns the hosts where people sign in; empty if none was found. */
function hostsOf({ authRequired }: Pick<ServerTest, "authRequired">): string {
  return (authRequired?.authorizationServers ?? []).map(hostOf).join(", ");
}
