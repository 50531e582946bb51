import { AsyncLocalStorage } from "node:async_hooks";
import { McpProblem, type McpProblemDetails, type McpStep } from "./problem.ts";

/**
 * One request to a server with all its HTTP requests: the first, those that resume a stream, and the responses to the server's own requests. The
 * first failure of any of them ends the exchange and is its reason.
 */
export interface Exchange {
  readonly step: McpStep;
  /** Aborted by the deadline, by the end of the session and by the first problem. Its reason is a `McpProblem`, or the session's reason. */
  readonly signal: AbortSignal;
  /** Ends the exchange. Only the first problem is kept. */
  fail(problem: Omit<McpProblemDetails, "step">): McpProblem;
  /** The problem that ended the exchange, if any. */
  readonly problem: McpProblem | undefined;
  /** HTTP status of the last failed response. */
  status: number | undefined;
  /** Counts an HTTP request. @throws McpProblem `too_many` */
  countRequest(): void;
  /** Stops the deadline timer. */
  end(): void;
}

/** HTTP requests allowed for one exchange: a stream may be resumed, and a server may send requests back. */
const MAX_REQUESTS = 20;

/** The exchange that the running code belongs to, because the library calls its `fetch` without passing it. */
export const exchanges = new AsyncLocalStorage<Exchange>();

/**
 * @param deadlineMs  0 = no deadline; the session's signal ends the exchange
 * @param maxRequests  Infinity for a notification stream, which is resumed for as long as the session lasts
 */
export function makeExchange(
  step: McpStep,
  sessionSignal: AbortSignal,
  deadlineMs: number,
  maxRequests = MAX_REQUESTS,
): Exchange {
  const controller = new AbortController();
  let problem: McpProblem | undefined;
  let requests = 0;
  const endBySession = () => controller.abort(sessionSignal.reason);
  if (sessionSignal.aborted) endBySession();
  else sessionSignal.addEventListener("abort", endBySession, { once: true });
  const timer = deadlineMs === 0 ? undefined : setTimeout(() => exchange.fail({ code: "timeout" }), deadlineMs);
  const exchange: Exchange = {
    step,
    signal: controller.signal,
    status: undefined,
    get problem() {
      return problem;
    },
    fail(details) {
      problem ??= new McpProblem({ step, ...details });
      controller.abort(problem);
      return problem;
    },
    countRequest() {
      if (problem !== undefined) throw problem;
      if (++requests > maxRequests) throw exchange.fail({ code: "too_many" });
    },
    end() {
      clearTimeout(timer);
      sessionSignal.removeEventListener("abort", endBySession);
    },
  };
  return exchange;
}
