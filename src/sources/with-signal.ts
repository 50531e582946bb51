import type { SourceContext } from "./context.ts";

/**
 * Returns the same context, limited by this signal: when the signal aborts, the context's requests and connections end
 * too.
 */
export function withSignal<Config>(context: SourceContext<Config>, signal: AbortSignal): SourceContext<Config> {
  const { http, connect } = context;
  return {
    ...context,
    signal,
    http: http.until(signal),
    ...(connect && { connect: (host, port, tls, until = signal) => connect(host, port, tls, until) }),
  };
}
