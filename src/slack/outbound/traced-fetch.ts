import { isTracing, note, step } from '../../observability/trace.ts';

type Fetch = typeof fetch;

/** Where traces are on, each request to the Web API is a step of the work it is made for. */
export function tracedFetch(slackApiUrl: string): Fetch | undefined {
  if (!isTracing()) return undefined;
  return (input, init) => {
    const method = methodOf(String(input), slackApiUrl);
    const facts = { 'slack.method': method };
    return step({ name: `slack ${method}`, kind: 'client', facts }, async () => {
      const response = await fetch(input, init);
      note({ 'http.response.status_code': response.status, ...(await trouble(response)) });
      return response;
    });
  };
}

/** Our own code names the method; an address that Slack gave us to upload to has no place here. */
function methodOf(url: string, slackApiUrl: string): string {
  const method = url.startsWith(slackApiUrl) ? url.slice(slackApiUrl.length) : '';
  return /^[a-z]+(\.[A-Za-z]+)+$/.test(method) ? method : 'upload';
}

/** Slack says no with a 200. Which no it was stands in the log, which has the same ids. */
async function trouble(response: Response): Promise<{ readonly 'error.type'?: string }> {
  if (!response.ok) return { 'error.type': String(response.status) };
  const said = await response.clone().text();
  return /"ok":\s*false/.test(said) ? { 'error.type': 'refused' } : {};
}
