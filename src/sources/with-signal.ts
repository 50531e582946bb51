import type { SourceContext } from "./context.ts";

/** The same context until this signal is aborted, which also ends its requests and connections. */
export function withSignal<Config>(context: SourceContext<Config>, signal: AbortSignal): SourceContext<Config> {
  const { http, connect } = context;
  return {
    ...context,
    signal,
    http: http.until(signal),
    ...(connect && { connect: (host, port, tls, until = signal) => connect(host, port, tls, until) }),
  };
}
