import { isTracing, note, step } from '../../observability/trace.ts';

type Fetch = typeof fetch;

/** Traces each request to the Web API; undefined when tracing is off. */
export function tracedFetch(slackApiUrl: string): Fetch | undefined {
  if (!isTracing()) return undefined;
  return (input, init) => {
    const method = methodOf(String(input), slackApiUrl);
    const facts = { 'slack.method': method };
    return step({ name: `slack ${method}`, kind: 'client', facts }, async () => {
      const response = await fetch(input, init);
      note({ 'http.response.status_code': response.status, ...(await errorType(response)) });
      return response;
    });
  };
}

/** The API method of a URL; `upload` for the file URLs that Slack returns. */
function methodOf(url: string, slackApiUrl: string): string {
  const method = url.startsWith(slackApiUrl) ? url.slice(slackApiUrl.length) : '';
  return /^[a-z]+(\.[A-Za-z]+)+$/.test(method) ? method : 'upload';
}

/** Slack reports errors with status 200. The log has the details under the same ids. */
async function errorType(response: Response): Promise<{ readonly 'error.type'?: string }> {
  if (!response.ok) return { 'error.type': String(response.status) };
  const body = await response.clone().text();
  return /"ok":\s*false/.test(body) ? { 'error.type': 'refused' } : {};
}
