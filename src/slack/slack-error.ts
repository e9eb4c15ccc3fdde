/** Errors after which it is unknown whether Slack executed the request. */
const UNSURE = ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'];

/** The name of a definite refusal, which had no effect; null for any other error. */
export function refusedBySlack(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  if (error.code === 'slack_webapi_rate_limited_error') return 'ratelimited';
  if (error.code !== 'slack_webapi_platform_error' || !('data' in error)) return null;
  const { data } = error;
  const isNamed = typeof data === 'object' && data !== null && 'error' in data;
  const name = isNamed ? String(data.error) : '';
  return name === '' || UNSURE.includes(name) ? null : name;
}

/** The time after which Slack accepts a rate-limited call again; null where Slack named none. */
export function retryAfterMs(error: unknown): number | null {
  const seconds = error instanceof Error && 'retryAfter' in error ? Number(error.retryAfter) : 0;
  return seconds > 0 ? seconds * 1_000 : null;
}
