import { type Json, record, stringOf } from '../../json.ts';
import type { SentEvent } from '../records.ts';
import { newId, type SlackState } from '../state.ts';
import { conversationOf, memberOf, payloadId, teamAt } from '../workspace/workspace.ts';
import type { AppResponse, Retry } from './delivery.ts';

/** Slack retries an event almost at once, after one minute and after five minutes. */
const RETRY_AFTER_MS: readonly number[] = [0, 60_000, 300_000];

export type EventDelivery = ReturnType<typeof sendEvent>;

/**
 * Sends an event to the app, with Slack's retries, if the app has subscribed to it. The subscription
 * to messages names the kind of channel: `message.im`. `first`: the first attempt; null when it has not.
 */
export function sendEvent(
  slack: SlackState,
  event: Json & { readonly type: string },
  subscription: string = event.type,
) {
  if (!slack.manifest.events.includes(subscription)) {
    return { first: Promise.resolve(null), done: Promise.resolve() };
  }
  const id = newId('Ev');
  const sent: SentEvent = { id, payload: eventPayload(slack, id, event), attempts: [] };
  slack.events.push(sent);
  const first = attempt(slack, sent, null);
  // It settles when the app has accepted the event or Slack has stopped retrying.
  return { first, done: first.then((response) => retry(slack, sent, response)) };
}

function eventPayload(slack: SlackState, id: string, event: Json): Json {
  const { workspace } = slack;
  const { appId, botUserId, enterpriseId: enterprise_id = null, orgWide = false } = workspace;
  const channel = conversationOf(workspace, stringOf(event.channel));
  const person = memberOf(workspace, stringOf(event.user));
  const place = channel && person ? teamAt(workspace, channel, person) : workspace.teamId;
  const teamId = stringOf(event.team_id ?? record(event.subteam).team_id) || place;
  // Of an installation for the organization, the workspace is only beside the authorizations.
  const team_id = orgWide ? null : teamId;
  const installation = { enterprise_id, team_id, user_id: botUserId, is_bot: true };
  return {
    token: 'deprecated',
    // That of the host of the channel, which can be another organization.
    team_id: channel?.hostedBy ?? teamId,
    context_team_id: orgWide ? enterprise_id : teamId,
    context_enterprise_id: enterprise_id,
    api_app_id: appId,
    type: 'event_callback',
    event_id: id,
    event_time: Math.floor(slack.now().getTime() / 1000),
    event: person ? { ...event, user: payloadId(workspace, person) } : event,
    is_ext_shared_channel: channel?.kind === 'external',
    authorizations: [{ ...installation, is_enterprise_install: orgWide }],
  };
}

async function retry(slack: SlackState, event: SentEvent, first: AppResponse): Promise<void> {
  let last = first;
  for (const [index, ms] of RETRY_AFTER_MS.entries()) {
    if (last.failure === null || last.noRetry) return;
    await slack.wait(ms);
    last = await attempt(slack, event, { num: index + 1, reason: retryReason(last) });
  }
}

async function attempt(
  slack: SlackState,
  event: SentEvent,
  retry: Retry | null,
): Promise<AppResponse> {
  const response = await slack.deliverToApp('events_api', event.payload, retry);
  event.attempts.push({ retryNum: retry?.num ?? 0, delivered: response.failure === null });
  return response;
}

function retryReason({ failure, status }: AppResponse): string {
  if (failure === 'operation_timeout') return 'http_timeout';
  return status === 0 ? 'connection_failed' : 'http_error';
}

/** Delivers an event a second time without a retry header, as Slack sometimes does. */
export async function redeliver(slack: SlackState, eventId: string): Promise<void> {
  const event = slack.events.find(({ id }) => id === eventId);
  if (event) await attempt(slack, event, null);
}
