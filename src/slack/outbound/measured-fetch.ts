import type { Measures } from '../../base/log.ts';
import { isRecording, note, step } from '../../base/log.ts';

type Fetch = typeof fetch;

const TIERS = { tier1: 1, tier2: 20, tier3: 50, tier4: 100 } as const;

/**
 * How many calls of each method Slack permits in a minute, in one workspace. The methods that are not
 * here have limits of another kind. Source: docs/slack-simulator.md#methods
 */
export const METHOD_LIMITS: ReadonlyMap<string, number> = new Map([
  ['apps.connections.open', TIERS.tier1],
  ['bots.info', TIERS.tier3],
  ['chat.postEphemeral', TIERS.tier4],
  ['chat.update', TIERS.tier3],
  ['conversations.history', TIERS.tier3],
  ['conversations.info', TIERS.tier3],
  ['conversations.list', TIERS.tier2],
  ['conversations.members', TIERS.tier4],
  ['conversations.open', TIERS.tier3],
  ['conversations.replies', TIERS.tier3],
  ['files.completeUploadExternal', TIERS.tier4],
  ['files.getUploadURLExternal', TIERS.tier4],
  ['usergroups.list', TIERS.tier2],
  ['usergroups.users.list', TIERS.tier2],
  ['users.info', TIERS.tier4],
  ['users.list', TIERS.tier2],
  ['views.open', TIERS.tier4],
  ['views.publish', TIERS.tier4],
  ['views.update', TIERS.tier4],
]);
const OTHER_METHODS = ['auth.test', 'chat.getPermalink', 'chat.postMessage'];

/** Counts each request to the Web API by its method, and traces it. */
export function measuredFetch(
  slackApiUrl: string,
  { slackCalled }: Pick<Measures, 'slackCalled'>,
): Fetch {
  return async (input, init) => {
    const method = methodOf(String(input), slackApiUrl);
    const measured = METHOD_LIMITS.has(method) || OTHER_METHODS.includes(method) ? method : 'other';
    try {
      const response = await (isRecording() ? traced(method, input, init) : fetch(input, init));
      slackCalled(measured, response.status === 429 ? 'limited' : 'answered');
      return response;
    } catch (error) {
      slackCalled(measured, 'failed');
      throw error;
    }
  };
}

function traced(method: string, ...request: Parameters<Fetch>): Promise<Response> {
  const facts = { 'slack.method': method };
  return step({ name: `slack ${method}`, kind: 'client', facts }, async () => {
    const response = await fetch(...request);
    note({ 'http.response.status_code': response.status, ...(await errorType(response)) });
    return response;
  });
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
